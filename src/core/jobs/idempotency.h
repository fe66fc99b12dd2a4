// The idempotency keys that the engine keeps in memory: the newest, up to a limit. Older ones are in the store only;
// for a key that is not here, the caller must ask the store first (`forgotten`).
#pragma once

#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/time.h"

namespace hodei::core {

// The job that a key created, and a hash of the spec that came with it (0: unknown).
struct KeyOwner {
  JobId job{};
  uint64_t fingerprint = 0;

  bool operator==(const KeyOwner&) const = default;
};

class IdempotencyKeys {
 public:
  struct Entry {
    JobId job{};
    WallTime expires;
    uint64_t fingerprint = 0;
  };
  using All = absl::flat_hash_map<Hash128, Entry>;  // never iterated to decide

  explicit IdempotencyKeys(size_t most) : most_(most) {}

  void put(const Hash128& key, const Entry& entry);
  void expire(WallTime before);
  // Its job was deleted. A key that now belongs to another job stays.
  void erase(const Hash128& key, JobId job);

  std::optional<KeyOwner> find(const Hash128& key) const;
  // When the first key expires, here or in the store.
  std::optional<WallTime> first_end() const;
  // The newest job whose key may be in the store only; 0: all keys are here.
  JobId forgotten() const { return forgotten_; }
  // Whether to ask the store as well: keys have been forgotten, or soon will be.
  bool is_filling() const { return forgotten_ != JobId{} || keys_.size() >= most_ / 2; }
  const All& all() const { return keys_; }

 private:
  void forget(JobId job, WallTime expires);

  size_t most_;
  All keys_;
  absl::btree_set<std::pair<WallTime, Hash128>> ages_;
  // About the keys that are in the store only.
  JobId forgotten_{};
  WallTime forgotten_from_;   // none of them expires before this
  WallTime forgotten_until_;  // none of them expires after this
};

}  // namespace hodei::core
