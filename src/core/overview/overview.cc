#include "src/core/overview/overview.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/core/placement/explain.h"

namespace hodei::core {
namespace {

// Whether a worker that is there takes jobs of both shapes, now or when it has room again.
bool compete(const WaitingShape& a, const WaitingShape& b) {
  if (a.ordinal == b.ordinal) return true;
  for (const WaitingShape::Eligible& mine : a.eligible) {
    const auto same_kind = [&](const WaitingShape::Eligible& other) { return other.kind == mine.kind; };
    if (std::none_of(b.eligible.begin(), b.eligible.end(), same_kind)) continue;
    for (const LiveWorker* worker : mine.kind->members) {
      const Amounts& capacity = worker->record->info.capacity;
      if (worker->in_service() && capacity.covers(a.shape->needs) && capacity.covers(b.shape->needs)) return true;
    }
  }
  return false;
}

// How many jobs are counted one by one, because a decision must not take long.
constexpr int64_t kMostCounted = 10'000;

// Older jobs of the same priority that may be given what this job of the lane waits for. One that fits no worker
// holds nobody up but its like. Nothing if there are too many to count.
std::optional<int64_t> count_competitors(const LaneTable& lanes, const Lane& lane, JobId job) {
  int64_t count = 0;
  for (const auto& [key, other] : lanes.all()) {
    if (other->priority != lane.priority || !compete(*lane.shape, *other->shape)) continue;
    for (auto it = other->jobs.begin(); it != other->jobs.end() && *it < job; ++it) {
      if (++count > kMostCounted) return std::nullopt;
    }
  }
  return count;
}

}  // namespace

Explanation Overview::explain_applicant(const Applicant& job) const {
  Explanation out;
  for (const auto& [id, worker] : fleet_.workers.all()) {
    if (worker->state == WorkerState::Terminated) continue;
    Candidate candidate = candidate_of(job, *worker, placement_.scheduler.config());
    if (!candidate.fits) count(out.rejected, candidate.rule);
    out.candidates.push_back(std::move(candidate));
  }
  out.waiting_for = waiting_text(out.rejected, out.candidates.size());
  out.unblock = unblock_text(job.shape, out.rejected, out.candidates.size());
  return out;
}

std::string Overview::making_room_for(const LaneKey& lane, const Turn& turn) const {
  for (const Reservation& r : placement_.room_maker.reservations().all()) {
    if (r.lane != lane) continue;
    const size_t running = fleet_.workers.all().at(r.worker)->executions.size();
    const int64_t seconds = (turn.mono() - r.since).count() / 1'000'000;
    if (r.preempting)
      return cat("worker ", r.worker.str(), " is being freed for it: lower-priority jobs there are requeued");
    return cat("worker ", r.worker.str(), " has been reserved for it for ", seconds, " s and is still running ",
               counted(running, "execution"));
  }
  return {};
}

Overview::Hold Overview::held_by_limits(const LiveJob& job, const Turn& turn) const {
  if (std::string key = placement_.limits.held_by(*job.head, turn); !key.empty()) {
    return {std::move(key),
            "the end of a job with that key, time if it has a rate, or a higher limit: `hodei limit set`"};
  }
  if (job.lane == nullptr) return {};
  return {placement_.quotas.held_by(*job.lane),
          "the end of one of its tenant's jobs, or a higher quota: `hodei tenant set`"};
}

Answer Overview::decide(const WhyWaiting& q, Turn& turn) const {
  WaitReasons out;
  for (const JobId id : q.jobs) {
    const LiveJob* live = jobs_.table.find(id);
    const bool waits = live != nullptr && live->head->state == JobState::Pending;
    // In back-off, its own reason says what happened and when it goes on.
    const bool is_held = waits && live->where != LiveJob::Where::Delayed;
    out.reasons.push_back(is_held ? held_by_limits(*live, turn).reason : std::string());
  }
  return out;
}

int64_t Overview::jobs_ahead_of(const LiveJob& live) const {
  if (live.lane == nullptr) return 0;
  const JobHead& job = *live.head;
  if (const auto count = count_competitors(placement_.roster.lanes, *live.lane, job.id)) return *count;
  int64_t ahead = placement_.queue.before_block_of(job.id, job.priority);
  const JobTable::All& all = jobs_.table.all();
  for (auto it = all.lower_bound(WaitingQueue::first_of_block(job.id)); it != all.end() && it->first < job.id; ++it) {
    ahead += it->second.head->state == JobState::Pending && it->second.head->priority == job.priority;
  }
  return ahead;
}

Answer Overview::decide(const ExplainJob& q, Turn& turn) const {
  const LiveJob* live = jobs_.table.find(q.job);
  if (live == nullptr) return absl::NotFoundError(cat("job ", short_id(q.job), " is neither waiting nor running"));
  const JobHead& head = *live->head;
  Explanation out;
  if (head.state == JobState::Pending) {
    const LaneKey lane = live->lane == nullptr ? LaneKey{} : live->lane->key();
    out = explain_applicant({*head.shape, head.ns, head.priority, lane});
    provisioning_.explanations.explain(*head.shape, head.ns, q.job, turn, out);
    if (const std::string room = making_room_for(lane, turn); !room.empty()) {
      out.waiting_for = room;
      out.unblock = "the end of what is running there, or room elsewhere";
    }
    if (std::string unknown = provisioning_.explanations.unknown_place(*head.shape); !unknown.empty())
      out.waiting_for = std::move(unknown);
    if (live->where == LiveJob::Where::Delayed) {
      out.waiting_for = cat("is in backoff until ", format_utc(head.not_before));
      out.unblock = "time: it is queued again then";
    } else if (const Hold hold = held_by_limits(*live, turn); !hold.reason.empty()) {
      out.waiting_for = hold.reason;
      out.unblock = hold.unblock;
      out.provisioning.clear();  // whatever is being made, it is not for this job
    }
    out.jobs_ahead = jobs_ahead_of(*live);
  }
  out.job = q.job;
  out.state = head.state;
  if (head.past != nullptr && !head.past->executions.empty()) {
    const Execution& newest = head.past->executions.back();
    out.decision = newest.decision;
    out.execution = newest.number;
    out.at = newest.scheduled;
  }
  return out;
}

Answer Overview::decide(const PreviewJob& q, Turn& turn) const {
  Explanation out = explain_applicant({*q.shape, q.ns});
  const Candidate* best = nullptr;
  for (const Candidate& c : out.candidates) {
    if (c.fits && (best == nullptr || c.score.total() > best->score.total())) best = &c;
  }
  if (best != nullptr) {
    Decision decision;
    decision.winner = best->worker;
    decision.score = best->score;
    decision.considered = static_cast<uint32_t>(out.candidates.size());
    decision.rejected = out.rejected;
    out.decision = std::move(decision);
    out.waiting_for.clear();
    out.unblock.clear();
  } else {
    provisioning_.explanations.explain(*q.shape, q.ns, JobId{}, turn, out);
  }
  out.at = turn.wall();
  return out;
}

Answer Overview::decide(const DescribeQueue&, Turn&) const {
  QueueReport out;
  out.pending = jobs_.table.count(JobState::Pending);
  out.scheduled = jobs_.table.count(JobState::Scheduled);
  out.running = jobs_.table.count(JobState::Running);
  out.delayed = static_cast<int64_t>(placement_.queue.delayed().size());
  out.parked = placement_.queue.parked();
  for (size_t p = 0; p < kPriorities; ++p) out.by_priority[p] = placement_.queue.in_class(static_cast<Priority>(p + 1));
  out.by_namespace = placement_.queue.by_namespace();
  out.shapes = static_cast<int64_t>(placement_.roster.shapes.with_jobs());
  for (const auto& [id, worker] : fleet_.workers.all()) {
    if (worker->state == WorkerState::Terminated) continue;
    ++out.workers;
    if (!worker->available()) continue;
    ++out.workers_available;
    out.slots += worker->record->info.slots;
    out.slots_free += static_cast<int64_t>(worker->record->info.slots - worker->executions.size());
  }
  return out;
}

Answer Overview::decide(const DescribeSystem&, Turn&) const {
  SystemReport out;
  out.pending = jobs_.table.count(JobState::Pending);
  out.active = jobs_.table.count(JobState::Scheduled) + jobs_.table.count(JobState::Running);
  for (const auto& [id, worker] : fleet_.workers.all()) {
    if (worker->state == WorkerState::Terminated) continue;
    ++out.workers;
    if (worker->has_stopped()) {
      ++out.stopped;
    } else {
      ++out.by_state[static_cast<size_t>(worker->shown_state())];
    }
    out.unhealthy += !worker->is_well();
  }
  for (const auto& [name, provider] : provisioning_.providers.all()) {
    if (provider.state() != ProviderState::Unhealthy || !provisioning_.explanations.is_wanted(provider)) continue;
    if (++out.bad_providers == 1)
      out.provider_trouble = cat("provider ", name, " is unhealthy: ", provider.health_reason);
  }
  return out;
}

}  // namespace hodei::core
