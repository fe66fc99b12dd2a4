// Answers from memory. They leave with their batch like every other reply, so nobody sees what is not durable.
#include <algorithm>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/placement/explain.h"

namespace hodei::core {
namespace {

WorkerView view_of(const LiveWorker& w, Now now) {
  WorkerView view;
  view.record = w.record;
  view.state = w.shown_state();
  view.connected = w.connected;
  view.unhealthy = w.unhealthy;
  view.unfit = w.unfit;
  view.stopped = w.record->stopped && w.state != WorkerState::Terminated;
  if (w.paused) view.paused_until = now.wall + (w.paused_until - now.mono);
  view.executions = {w.executions.begin(), w.executions.end()};
  view.cpu_load = w.cpu_load;
  view.memory_used_mb = w.memory_used_mb;
  view.dropped_logs = w.dropped_logs;
  view.succeeded = w.succeeded;
  view.failed = w.failed;
  view.last_seen = w.last_seen_wall;
  return view;
}

}  // namespace

Engine::Answer Engine::on(const Question& c, Now now, Turn&) {
  return std::visit([&](const auto& q) { return answer(q, now); }, c);
}

Explanation Engine::explain_applicant(const Applicant& job) {
  Explanation out;
  for (const auto& [id, worker] : state_.workers()) {
    if (worker->state == WorkerState::Terminated) continue;
    Candidate candidate = candidate_of(job, *worker, state_.scheduler());
    if (!candidate.fits) count(out.rejected, candidate.rule);
    out.candidates.push_back(std::move(candidate));
  }
  out.waiting_for = waiting_words(out.rejected, out.candidates.size());
  out.unblock = unblock_words(job.shape, out.rejected, out.candidates.size());
  return out;
}

std::string Engine::making_room_for(const LaneKey& lane, Now now) const {
  for (const Reservation& r : reservations_.all()) {
    if (r.lane != lane) continue;
    const size_t running = state_.workers().at(r.worker)->executions.size();
    const int64_t seconds = (now.mono - r.since).count() / 1'000'000;
    if (r.preempting)
      return cat("worker ", r.worker.str(), " is being freed for it: lower-priority jobs there are requeued");
    return cat("worker ", r.worker.str(), " has been reserved for it for ", seconds, " s and is still running ",
               counted(running, "execution"));
  }
  return {};
}

Engine::Hold Engine::held_by_limits(const LiveJob& job, Now now) {
  if (std::string key = held_by_key(*job.head, now); !key.empty()) {
    return {std::move(key),
            "the end of a job with that key, time if it has a rate, or a higher limit: `hodei limit set`"};
  }
  if (job.lane == nullptr) return {};
  return {held_by_quota(*job.lane), "the end of one of its tenant's jobs, or a higher quota: `hodei tenant set`"};
}

Engine::Answer Engine::answer(const WhyWaiting& q, Now now) {
  WaitingWords out;
  for (const JobId id : q.jobs) {
    const LiveJob* live = state_.job(id);
    const bool waits = live != nullptr && live->head->state == JobState::Pending;
    // In back-off, its own reason says what happened and when it goes on.
    const bool is_held = waits && live->where != LiveJob::Where::Delayed;
    out.words.push_back(is_held ? held_by_limits(*live, now).words : std::string());
  }
  return out;
}

Engine::Answer Engine::answer(const ExplainJob& q, Now now) {
  const LiveJob* live = state_.job(q.job);
  if (live == nullptr) return absl::NotFoundError(cat("job ", short_id(q.job), " is neither waiting nor running"));
  const JobHead& head = *live->head;
  Explanation out;
  if (head.state == JobState::Pending) {
    const LaneKey lane = live->lane == nullptr ? LaneKey{} : live->lane->key();
    out = explain_applicant({*head.shape, head.ns, head.priority, lane});
    explain_providers(*head.shape, head.ns, q.job, now, out);
    if (const std::string room = making_room_for(lane, now); !room.empty()) {
      out.waiting_for = room;
      out.unblock = "the end of what is running there, or room elsewhere";
    }
    if (std::string unknown = unknown_place(*head.shape); !unknown.empty()) out.waiting_for = std::move(unknown);
    if (live->where == LiveJob::Where::Delayed) {
      out.waiting_for = cat("is in backoff until ", format_utc(head.not_before));
      out.unblock = "time: it is queued again then";
    } else if (const Hold hold = held_by_limits(*live, now); !hold.words.empty()) {
      out.waiting_for = hold.words;
      out.unblock = hold.unblock;
      out.provisioning.clear();  // whatever is being made, it is not for this job
    }
    for (const auto& [id, other] : state_.jobs()) {
      if (id >= q.job) break;
      out.jobs_ahead += other.head->state == JobState::Pending && other.head->priority == head.priority;
    }
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

Engine::Answer Engine::answer(const PreviewJob& q, Now now) {
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
    explain_providers(*q.shape, q.ns, JobId{}, now, out);
  }
  out.at = now.wall;
  return out;
}

Engine::Answer Engine::answer(const DescribeQueue&, Now) {
  QueueReport out;
  out.pending = state_.count(JobState::Pending);
  out.scheduled = state_.count(JobState::Scheduled);
  out.running = state_.count(JobState::Running);
  out.delayed = static_cast<int64_t>(state_.delayed().size());
  out.parked = state_.parked();
  for (size_t p = 0; p < kPriorities; ++p) out.by_priority[p] = state_.waiting_in_class(static_cast<Priority>(p + 1));
  out.by_namespace = state_.waiting_by_namespace();
  out.shapes = static_cast<int64_t>(state_.roster().shapes());
  for (const auto& [id, worker] : state_.workers()) {
    if (worker->state == WorkerState::Terminated) continue;
    ++out.workers;
    if (!worker->available()) continue;
    ++out.workers_available;
    out.slots += worker->record->info.slots;
    out.slots_free += static_cast<int64_t>(worker->record->info.slots - worker->executions.size());
  }
  return out;
}

Engine::Answer Engine::answer(const DescribeWorkers& q, Now now) {
  WorkerViews out;
  for (const auto& [id, worker] : state_.workers()) {
    if (id.str() == q.prefix && !q.prefix.empty()) return WorkerViews{{view_of(*worker, now)}};
    if (id.str().starts_with(q.prefix)) out.workers.push_back(view_of(*worker, now));
  }
  if (!q.exact) return out;
  if (out.workers.empty())
    return absl::NotFoundError(cat("worker '", q.prefix, "' is not registered; see `hodei worker list`"));
  if (out.workers.size() > 1) {
    // Those that are gone do not make a name ambiguous.
    std::erase_if(out.workers, [](const WorkerView& view) { return view.state == WorkerState::Terminated; });
    if (out.workers.size() == 1) return out;
    if (out.workers.empty()) {
      return absl::NotFoundError(
          cat("worker '", q.prefix, "' matches several workers, all of them gone; give more of the id"));
    }
    return absl::InvalidArgumentError(
        cat("worker_id: '", q.prefix, "' matches ", out.workers.size(), " workers; give more of the id"));
  }
  return out;
}

Engine::Answer Engine::answer(const FindSession& q, Now) {
  LiveWorker* worker = state_.worker_of_session(q.session);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::UnauthenticatedError("hodei-session: not the session id of a registered worker");
  }
  return Registered{worker->id()};
}

bool Engine::is_wanted(const LiveProvider& provider) const {
  if (!provider.row.guessed || provider.workers > 0) return true;
  const std::string& name = provider.row.name;
  for (const auto& [pool, row] : state_.pools()) {
    if (row.provider == name) return true;
  }
  bool waited_for = false;
  state_.roster().each_lane([&](const Lane& lane) { waited_for = waited_for || lane.shape->shape->provider == name; });
  return waited_for;
}

Engine::Answer Engine::answer(const DescribeSystem&, Now) {
  SystemReport out;
  out.pending = state_.count(JobState::Pending);
  out.active = state_.count(JobState::Scheduled) + state_.count(JobState::Running);
  for (const auto& [id, worker] : state_.workers()) {
    if (worker->state == WorkerState::Terminated) continue;
    ++out.workers;
    if (worker->has_stopped()) {
      ++out.stopped;
    } else {
      ++out.by_state[static_cast<size_t>(worker->shown_state())];
    }
    out.unhealthy += !worker->is_well();
  }
  for (const auto& [name, provider] : state_.providers()) {
    if (provider.state() != ProviderState::Unhealthy || !is_wanted(provider)) continue;
    if (++out.bad_providers == 1)
      out.provider_trouble = cat("provider ", name, " is unhealthy: ", provider.health_reason);
  }
  return out;
}

}  // namespace hodei::core
