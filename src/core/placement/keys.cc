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

std::vector<std::pair<Lane*, JobId>> ConcurrencyKeys::wakeable(const KeyState& key) const {
  std::vector<std::pair<Lane*, JobId>> out;
  out.reserve(key.parked.size());
  for (const auto& [lane, jobs] : key.parked) out.emplace_back(lane, *jobs.begin());
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.first->priority != b.first->priority ? a.first->priority > b.first->priority : a.second < b.second;
  });
  return out;
}

}  // namespace hodei::core
