#include "src/core/placement/demand.h"

#include <algorithm>
#include <map>
#include <string>

namespace hodei::core {

int64_t Demand::startable(const Lane& lane, const Turn& turn) const {
  const Tenant& tenant = *lane.tenant;
  const int64_t most = tenant.has_quota() ? tenant.room(lane.shape->shape->needs) : INT64_MAX;
  const auto room_is_made = static_cast<int64_t>(room_maker_.reservations().preempting(lane.key()));
  std::map<std::string, int64_t> keys;
  int64_t jobs = 0;
  size_t looked = 0;
  for (const JobId job : lane.jobs) {
    if (jobs >= most || looked == kJobsPerLook) break;
    ++looked;
    const JobHead& head = *ports_.jobs->find(job)->head;
    if (!head.concurrency_key.empty()) {
      const KeyState* key = keys_.find(head.ns.str(), head.concurrency_key);
      int64_t& left = keys.try_emplace(head.concurrency_key, key == nullptr ? 1 : key->room(turn.mono())).first->second;
      if (left-- <= 0) continue;
    }
    ++jobs;
  }
  return std::min(most, jobs) - room_is_made;
}

}  // namespace hodei::core
