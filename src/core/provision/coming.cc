#include "src/core/provision/coming.h"

#include <set>

#include "src/core/placement/rules/rule.h"

namespace hodei::core {

// What is made for a job of another shape is that job's: it may be much larger, and take much longer to come. Only the
// slots that it does not need are counted, and none of a worker that is held up.
uint32_t Coming::slots_for(const Shape& shape, const std::string& ns) const {
  uint32_t slots = 0;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const LiveWorker* worker = context_.fleet.workers.find(id);
    if (worker == nullptr || !worker->record->info.made || !worker->is_on_its_way()) continue;
    const WorkerInfo& info = worker->record->info;
    if (!serves(info, ns) || first_rejection(shape, info)) continue;
    if (attempt.shape.empty() || attempt.shape == shape.encoded) {
      slots += info.slots;
    } else if (attempt.held_up.empty()) {
      slots += info.slots - 1;
    }
  }
  return slots;
}

uint32_t Coming::starting(const std::string& provider) const {
  uint32_t count = 0;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const LiveWorker* worker = context_.fleet.workers.find(id);
    count += worker != nullptr && worker->record->info.made->provider == provider && attempt.held_up.empty();
  }
  return count;
}

uint32_t Coming::held_up(const std::string& provider) const {
  uint32_t count = 0;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const LiveWorker* worker = context_.fleet.workers.find(id);
    count += !attempt.held_up.empty() && worker != nullptr && worker->record->info.made->provider == provider;
  }
  return count;
}

// Those that are held up keep nobody waiting but their like.
bool Coming::too_many_held_up(const std::string& provider, const Shape& shape) const {
  uint32_t count = 0;
  bool is_alike = false;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const LiveWorker* worker = context_.fleet.workers.find(id);
    if (attempt.held_up.empty() || worker == nullptr || worker->record->info.made->provider != provider) continue;
    ++count;
    is_alike |= attempt.shape == shape.encoded;
  }
  return is_alike && count >= kMaxHeldUpWorkers;
}

// The first job of these lanes that no worker on its way is for.
JobId Coming::unclaimed(const std::vector<const Lane*>& lanes) const {
  std::set<JobId> claimed;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const LiveWorker* worker = context_.fleet.workers.find(id);
    if (worker != nullptr) claimed.insert(JobId{worker->record->info.made->for_job});
  }
  JobId first{};
  for (const Lane* lane : lanes) {
    if (!context_.placement.roster.admits(*lane)) continue;
    for (const JobId job : lane->jobs) {
      if (claimed.contains(job)) continue;
      if (first == JobId{} || job < first) first = job;
      break;
    }
  }
  return first;
}

}  // namespace hodei::core
