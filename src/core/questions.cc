// Answers from memory. They leave with their batch like every other reply, so nobody sees what is not durable.
#include <algorithm>

#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {
namespace {

WorkerView view_of(const LiveWorker& w) {
  return {w.record,         w.state,          w.connected, w.unhealthy, {w.executions.begin(), w.executions.end()}, w.cpu_load,
          w.memory_used_mb, w.dropped_logs, w.succeeded, w.failed,    w.last_seen_wall};
}

void count(std::vector<RuleCount>& into, std::string_view rule) {
  const auto it = std::find_if(into.begin(), into.end(), [&](const RuleCount& r) { return r.rule == rule; });
  if (it != into.end()) {
    ++it->workers;
  } else {
    into.push_back({std::string(rule), 1});
  }
}

// What a worker has against a shape right now, beyond the rules.
std::optional<std::pair<std::string, std::string>> busy_reason(const LiveWorker& w, const Shape& shape) {
  if (!takes_work(w.state)) return {{"state", cat("is ", name(w.state))}};
  if (!w.connected) return {{"connected", "is not connected"}};
  if (w.unhealthy) return {{"healthy", "is unhealthy"}};
  if (!w.has_slot()) return {{"slots", cat("all ", w.record->info.slots, " slots are taken")}};
  if (!w.free().covers(shape.needs)) return {{"capacity", "has too little free capacity right now"}};
  return std::nullopt;
}

std::string in_words(const std::vector<RuleCount>& rejected, size_t workers) {
  if (workers == 0) return "there are no workers; start one with `hodei agent`";
  const auto worst = std::max_element(rejected.begin(), rejected.end(),
                                      [](const RuleCount& a, const RuleCount& b) { return a.workers < b.workers; });
  if (worst == rejected.end()) return "a worker fits; it is next";
  std::string text = cat("no worker fits: ", worst->workers, " of ", workers, " turned away by '", worst->rule, "'");
  for (const Rule& rule : rules()) {
    if (rule.name == worst->rule) return cat(text, "; unblocked by ", rule.unblocked_by);
  }
  return cat(text, "; unblocked by a worker getting room or coming back");
}

}  // namespace

Engine::Answer Engine::on(const Question& c, Now now, Turn&) {
  return std::visit([&](const auto& q) { return answer(q, now); }, c);
}

Explanation Engine::explain_shape(const Shape& shape) {
  Explanation out;
  size_t workers = 0;
  for (const auto& [id, worker] : state_.workers()) {
    if (worker->state == WorkerState::Terminated) continue;
    ++workers;
    Candidate candidate;
    candidate.worker = id;
    const WorkerInfo& info = worker->record->info;
    if (const std::optional<Rejection> no = first_rejection(shape, info)) {
      candidate.rule = no->rule->name;
      candidate.reason = no->reason;
    } else if (const auto busy = busy_reason(*worker, shape)) {
      candidate.rule = busy->first;
      candidate.reason = busy->second;
    } else {
      candidate.score = score_of(*worker, fit_of(shape, info), state_.scheduler());
      candidate.fits = candidate.score.total() > state_.scheduler().threshold;
      if (!candidate.fits) {
        candidate.rule = "threshold";
        candidate.reason = cat("scores ", candidate.score.total(), ", not above ", state_.scheduler().threshold);
      }
    }
    if (!candidate.fits) count(out.rejected, candidate.rule);
    out.candidates.push_back(std::move(candidate));
  }
  out.waiting_for = in_words(out.rejected, workers);
  return out;
}

Engine::Answer Engine::answer(const ExplainJob& q, Now now) {
  const LiveJob* live = state_.job(q.job);
  if (live == nullptr) return absl::NotFoundError(cat("job ", short_id(q.job), " is not waiting or running"));
  const JobHead& head = *live->head;
  Explanation out;
  if (head.state == JobState::Pending) {
    out = explain_shape(*head.shape);
    explain_providers(*head.shape, q.job, now, out);
    if (live->where == LiveJob::Where::Delayed) {
      out.waiting_for = cat("waits out its back-off until ", format_utc(head.not_before));
    } else if (live->where == LiveJob::Where::Parked) {
      const KeyState& key = state_.keys().at(head.ns.str(), head.concurrency_key);
      out.waiting_for = cat("concurrency key '", head.concurrency_key, "' is at its limit of ", key.limit, "; ",
                            key.waiting, " jobs wait for it");
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
  Explanation out = explain_shape(*q.shape);
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

Engine::Answer Engine::answer(const DescribeWorkers& q, Now) {
  WorkerViews out;
  for (const auto& [id, worker] : state_.workers()) {
    if (id.str() == q.prefix && !q.prefix.empty()) return WorkerViews{{view_of(*worker)}};
    if (id.str().starts_with(q.prefix)) out.workers.push_back(view_of(*worker));
  }
  if (!q.exact) return out;
  if (out.workers.empty()) return absl::NotFoundError(cat("worker '", q.prefix, "' is not registered; see `hodei worker list`"));
  if (out.workers.size() > 1) {
    return absl::InvalidArgumentError(cat("worker_id: '", q.prefix, "' is the start of ", out.workers.size(),
                                          " workers' ids; give more of it"));
  }
  return out;
}

Engine::Answer Engine::answer(const FindSession& q, Now) {
  LiveWorker* worker = state_.worker_of_session(q.session);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::UnauthenticatedError("hodei-session: not a session id of a registered worker");
  }
  return Registered{worker->id()};
}

Engine::Answer Engine::answer(const DescribeSystem&, Now) {
  SystemReport out;
  out.pending = state_.count(JobState::Pending);
  out.active = state_.count(JobState::Scheduled) + state_.count(JobState::Running);
  for (const auto& [id, worker] : state_.workers()) {
    if (worker->state == WorkerState::Terminated) continue;
    ++out.workers;
    ++out.by_state[static_cast<size_t>(worker->state)];
    out.unhealthy += worker->unhealthy;
  }
  return out;
}

}  // namespace hodei::core
