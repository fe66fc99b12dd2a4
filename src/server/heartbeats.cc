#include "src/server/heartbeats.h"

#include <utility>

namespace hodei::server {

void Heartbeats::open(uint64_t stream) {
  const std::lock_guard lock(mutex_);
  streams_.try_emplace(stream);
}

void Heartbeats::close(uint64_t stream) {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(stream);
  if (it == streams_.end()) return;
  // What was acknowledged must count, also when the stream breaks right behind it.
  if (it->second.is_new) left_.push_back(it->second.newest);
  streams_.erase(it);
}

void Heartbeats::lead_until(MonoTime end_of_term) {
  const std::lock_guard lock(mutex_);
  end_of_term_ = end_of_term;
}

bool Heartbeats::take(const core::Heartbeat& beat) {
  const std::lock_guard lock(mutex_);
  if (end_of_term_ != kNever && clock_.now().mono >= end_of_term_) return false;
  const auto it = streams_.find(beat.stream);
  if (it == streams_.end()) return false;
  it->second.newest = beat;
  if (!std::exchange(it->second.is_new, true)) waiting_.push_back(beat.stream);
  return true;
}

std::vector<core::Heartbeat> Heartbeats::collect() {
  const std::lock_guard lock(mutex_);
  std::vector<core::Heartbeat> out = std::exchange(left_, {});
  for (const uint64_t stream : waiting_) {
    const auto it = streams_.find(stream);
    if (it == streams_.end()) continue;
    it->second.is_new = false;
    out.push_back(it->second.newest);
  }
  waiting_.clear();
  return out;
}

}  // namespace hodei::server
