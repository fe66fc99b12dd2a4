// Concurrency keys: at most `limit` jobs of a key are with workers at once. Jobs over the limit wait here, outside the
// lanes, so that they cost nothing while they cannot run.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/node_hash_map.h"
#include "src/base/ids.h"
#include "src/core/placement/lane.h"

namespace hodei::core {

struct KeyState {
  bool is_stored = false;                                // has a row with its limit
  int64_t limit = 1;
  int64_t jobs = 0;                                      // not ended
  int64_t held = 0;                                      // dispatched and not proven ended
  std::map<Lane*, absl::btree_set<JobId>> parked;        // never iterated to decide; see `wakeable`
  size_t waiting = 0;

  bool full() const { return held >= limit; }
};

class ConcurrencyKeys {
 public:
  using Name = std::pair<std::string, std::string>;      // namespace, key

  using All = absl::node_hash_map<Name, KeyState>;       // never iterated to decide

  KeyState& at(const std::string& ns, const std::string& key) { return keys_[Name(ns, key)]; }
  const KeyState* find(const std::string& ns, const std::string& key) const {
    const auto it = keys_.find(Name(ns, key));
    return it == keys_.end() ? nullptr : &it->second;
  }
  void erase(const std::string& ns, const std::string& key) { keys_.erase(Name(ns, key)); }
  const All& all() const { return keys_; }

  void park(KeyState& key, Lane* lane, JobId job);
  void unpark(KeyState& key, Lane* lane, JobId job);

  // Of every lane the first parked jobs, as many as there is room for: each of them could take it, and a lane that fits
  // on no worker must not keep the others from it. By growing number.
  std::vector<JobId> wakeable(const KeyState& key) const;

 private:
  All keys_;
};

}  // namespace hodei::core
