#include "src/core/placement/preempt.h"

#include <algorithm>

namespace hodei::core {
namespace {

WallTime scheduled(const JobHead& job) {
  return job.past == nullptr || job.past->executions.empty() ? WallTime{} : job.past->executions.back().scheduled;
}

bool goes_before(const JobHead* a, const JobHead* b) {
  if (a->priority != b->priority) return a->priority < b->priority;
  if (scheduled(*a) != scheduled(*b)) return scheduled(*b) < scheduled(*a);
  return a->id > b->id;
}

// What is left of a worker, and what would be.
struct Room {
  Amounts free;
  int64_t slots = 0;

  bool covers(const Amounts& needs) const { return slots > 0 && free.covers(needs); }
  void add(const JobHead& job) { free += job.shape->needs, ++slots; }
  void take(const JobHead& job) { free -= job.shape->needs, --slots; }
};

}  // namespace

std::optional<std::vector<const JobHead*>> victims(const Amounts& needs, Priority priority, const LiveWorker& worker,
                                                   const std::vector<Occupant>& occupants) {
  Room room{worker.free(),
            static_cast<int64_t>(worker.record->info.slots) - static_cast<int64_t>(worker.executions.size())};
  std::vector<const JobHead*> lower;
  for (const Occupant& o : occupants) {
    if (o.ends) {
      room.add(*o.job);
    } else if (o.job->priority < priority && o.job->executions < kMaxExecutionsToPreempt) {
      lower.push_back(o.job);
    }
  }
  std::sort(lower.begin(), lower.end(), goes_before);
  std::vector<const JobHead*> out;
  for (const JobHead* job : lower) {
    if (room.covers(needs)) break;
    room.add(*job);
    out.push_back(job);
  }
  if (!room.covers(needs)) return std::nullopt;
  // A large one that came last may have made the ones before it needless: those of the higher classes stay first.
  for (size_t i = out.size(); i-- > 0;) {
    room.take(*out[i]);
    if (room.covers(needs)) {
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      room.add(*out[i]);
    }
  }
  return out;
}

bool is_milder(const std::vector<const JobHead*>& a, const std::vector<const JobHead*>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  const auto classes = [](const std::vector<const JobHead*>& jobs) {
    int sum = 0;
    for (const JobHead* job : jobs) sum += static_cast<int>(job->priority);
    return sum;
  };
  return classes(a) < classes(b);
}

}  // namespace hodei::core
