// The idempotency keys of submissions: which of them already have a job, and when they expire.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "src/core/config.h"
#include "src/core/jobs/idempotency.h"
#include "src/core/routing.h"

namespace hodei::core {

class KnownKeys {
 public:
  explicit KnownKeys(const EngineConfig& config) : config_(config), keys_(config.memory.idempotency_keys) {}

  absl::Status check(std::span<const NewJob> jobs) const;
  // The job that has the key of this one.
  std::optional<JobId> owner(const NewJob& job) const;
  void put(const NewJob& job, JobId id, Turn& turn) const;
  const IdempotencyKeys& keys() const { return keys_; }

  void fold(const Put<IdempotencyRow>& write);
  void fold(const ExpireIdempotency& write) { keys_.expire(write.before); }
  void fold(const EraseIdempotency& write) { keys_.erase(write.key, write.job); }
  void resume(Turn& turn) { loaded_ = turn.mono(); }
  void sweep(Turn& turn);
  uint64_t digest() const;

 private:
  absl::Status check_forgotten(std::span<const NewJob> jobs) const;
  absl::Status check_fingerprints(std::span<const NewJob> jobs) const;

  const EngineConfig& config_;
  IdempotencyKeys keys_;
  MonoTime loaded_{0};
};

}  // namespace hodei::core
