#include "src/core/jobs/idempotency.h"

#include <algorithm>

namespace hodei::core {

void IdempotencyKeys::put(const Hash128& key, const Entry& entry) {
  const std::pair<WallTime, Hash128> age(entry.expires, key);
  const auto known = keys_.find(key);
  if (known != keys_.end()) {
    ages_.erase({known->second.expires, key});
    keys_.erase(known);
  }
  // The same keys are kept whatever the order in which they come: a loaded engine has those of the one that ran before.
  if (keys_.size() >= most_) {
    if (ages_.empty() || age < *ages_.begin()) return forget(entry.job, entry.expires);
    const Hash128 oldest = ages_.begin()->second;
    const auto it = keys_.find(oldest);
    forget(it->second.job, it->second.expires);
    ages_.erase(ages_.begin());
    keys_.erase(it);
  }
  keys_.emplace(key, entry);
  ages_.insert(age);
}

void IdempotencyKeys::forget(JobId job, WallTime expires) {
  const bool first = forgotten_ == JobId{};
  forgotten_ = std::max(forgotten_, job);
  forgotten_from_ = first ? expires : std::min(forgotten_from_, expires);
  forgotten_until_ = first ? expires : std::max(forgotten_until_, expires);
}

void IdempotencyKeys::expire(WallTime before) {
  while (!ages_.empty() && ages_.begin()->first < before) {
    keys_.erase(ages_.begin()->second);
    ages_.erase(ages_.begin());
  }
  if (forgotten_ == JobId{}) return;
  if (forgotten_until_ < before) {
    forgotten_ = {};
  } else {
    forgotten_from_ = std::max(forgotten_from_, before);
  }
}

void IdempotencyKeys::erase(const Hash128& key, JobId job) {
  const auto it = keys_.find(key);
  if (it == keys_.end() || it->second.job != job) return;
  ages_.erase({it->second.expires, key});
  keys_.erase(it);
}

std::optional<KeyOwner> IdempotencyKeys::find(const Hash128& key) const {
  const auto it = keys_.find(key);
  if (it == keys_.end()) return std::nullopt;
  return KeyOwner{it->second.job, it->second.fingerprint};
}

std::optional<WallTime> IdempotencyKeys::first_end() const {
  if (forgotten_ != JobId{}) return forgotten_from_;
  if (ages_.empty()) return std::nullopt;
  return ages_.begin()->first;
}

}  // namespace hodei::core
