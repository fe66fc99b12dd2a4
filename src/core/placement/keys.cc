#include "src/core/placement/keys.h"

#include <algorithm>

namespace hodei::core {

void ConcurrencyKeys::park(KeyState& key, Lane* lane, JobId job) {
  if (!key.parked[lane].insert(job).second) return;
  ++lane->parked;
  ++key.waiting;
}

void ConcurrencyKeys::unpark(KeyState& key, Lane* lane, JobId job) {
  const auto it = key.parked.find(lane);
  if (it == key.parked.end() || it->second.erase(job) == 0) return;
  if (it->second.empty()) key.parked.erase(it);
  --lane->parked;
  --key.waiting;
}

std::vector<JobId> ConcurrencyKeys::wakeable(const KeyState& key) const {
  std::vector<JobId> out;
  const int64_t room = key.limit - key.held;
  for (const auto& [lane, jobs] : key.parked) {
    int64_t left = room;
    for (auto job = jobs.begin(); job != jobs.end() && left > 0; ++job, --left) out.push_back(*job);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hodei::core
