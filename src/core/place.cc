// Bringing waiting jobs and free workers together.
#include <algorithm>

#include "src/base/finite.h"
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"

namespace hodei::core {
namespace {

std::string in_words(const SchedulerConfig& c) {
  return cat("strategy ", static_cast<int>(c.strategy), ", weights ", c.capacity, " ", c.load, " ", c.affinity, " ",
             c.zone, " ", c.history, ", threshold ", c.threshold, c.packing == Packing::Pack ? ", pack" : ", spread",
             c.preemption ? ", with preemption" : ", without preemption", ", reserve after ",
             c.reserve_after.count() / 1000, " ms");
}

}  // namespace

void Engine::assign(JobId id, LiveWorker& worker, Decision decision, Now now, Turn& turn) {
  Lane* lane = state_.job(id)->lane;
  const bool was_kept = worker.reserved.priority != 0 && lane != nullptr && worker.reserved == lane->key();
  if (was_kept) reservations_.release(worker);
  // A job more may be the company that somebody waits for, or, when packing, what lifts the worker over the threshold.
  const SchedulerConfig& config = state_.scheduler();
  const bool wakes = state_.roster().company_wanted() || (config.packing == Packing::Pack && config.threshold > 0);
  if (was_kept || wakes) touched_.push_back(worker.id());
  preempt_due_ |= was_kept;
  state_.roster().took_turn(worker);
  Draft draft(*state_.job(id)->head);
  JobHead& head = draft.head;
  shelve(draft, turn);
  ++head.executions;
  head.worker = worker.id();
  head.not_before = {};
  decision.winner = worker.id();
  Execution execution;
  execution.number = head.executions;
  execution.worker = worker.id();
  execution.provider = worker.record->info.provider;
  if (worker.record->info.made) execution.provider_ref = worker.record->info.made->handle;
  execution.scheduled = now.wall;
  execution.decision = std::move(decision);
  draft.past.executions.push_back(std::move(execution));
  draft.move(JobEvent::Assign, now.wall, cat("assigned to worker ", worker.id().str()));
  const ExecutionId current = head.current();
  const uint32_t attempt = head.attempts + 1;
  const bool has_secrets = head.secrets != nullptr;
  if (has_secrets) record_delivery(head, worker.id(), now, turn);
  store(draft, now, turn);
  count_start(*state_.job(id)->head, lane, now);
  turn.effects.push_back(RunExecution{worker.id(), worker.stream, current, attempt, has_secrets});
}

void Engine::shelve(Draft& draft, Turn& turn) {
  const JobId job = draft.head.id;
  for (ShelvedExecution& one : draft.shelve()) {
    const uint32_t number = one.execution.number;
    write(PutExecution{job, std::make_shared<const ShelvedExecution>(std::move(one))}, turn);
    if (number > kMaxShelvedExecutions) write(DropExecutions{job, number - kMaxShelvedExecutions + 1}, turn);
  }
}

void Engine::place_job(JobId id, Now now, Turn& turn) {
  const LiveJob* live = state_.job(id);
  if (live->where != LiveJob::Where::InLane) return;
  if (key_is_full(*live->head, now)) {
    park(id, now);
    return;
  }
  // Others of its lane wait already: by the roster's invariant there is no room for this one either.
  if (live->lane->first() == id) {
    place_lane(live->lane, now, turn);
  } else {
    want(*live->lane);
  }
}

void Engine::place_lane(Lane* lane, Now now, Turn& turn) {
  while (!lane->jobs.empty()) {
    const JobId id = lane->first();
    if (key_is_full(*state_.job(id)->head, now)) {
      park(id, now);
      continue;
    }
    if (!state_.roster().admits(*lane)) return want(*lane);  // a worker is made when its quota lets it start
    Choice choice;
    // Those that had it before and did not start it come last.
    if (const Past* past = state_.job(id)->head->past.get(); past != nullptr && !past->refused_by.empty()) {
      choice = state_.roster().best(*lane, past->refused_by);
    }
    if (choice.worker == nullptr) choice = state_.roster().best(*lane);
    if (choice.worker == nullptr) {
      preempt(*lane, now, turn);
      return want(*lane);  // a worker on which room is being made counts as one
    }
    const bool last = lane->jobs.size() == 1 && lane->parked == 0;  // the lane goes with it
    state_.roster().served(lane);
    assign(id, *choice.worker, std::move(choice.decision), now, turn);
    if (last) return;
  }
}

void Engine::fill(LiveWorker& worker, Now now, Turn& turn) {
  while (Lane* lane = state_.roster().first_waiting(worker)) {
    const JobId id = lane->first();
    if (key_is_full(*state_.job(id)->head, now)) {
      park(id, now);
      continue;
    }
    const Fit fit = fit_of(*lane->shape->shape, worker.record->info);
    Decision decision = state_.roster().decision_for(*lane, worker, fit);
    state_.roster().served(lane);
    assign(id, worker, std::move(decision), now, turn);
  }
}

void Engine::fill_all(Now now, Turn& turn) {
  for (const auto& [id, worker] : state_.workers()) fill(*worker, now, turn);
}

void Engine::place_woken(std::vector<JobId> jobs, Now now, Turn& turn) {
  std::sort(jobs.begin(), jobs.end(), [this](JobId a, JobId b) {
    const Priority first = state_.job(a)->head->priority;
    const Priority second = state_.job(b)->head->priority;
    return first != second ? first > second : a < b;
  });
  for (const JobId job : jobs) {
    const LiveJob* live = state_.job(job);
    if (live->where == LiveJob::Where::InLane) place_lane(live->lane, now, turn);
  }
}

Engine::Answer Engine::on(const ConfigureScheduler& c, Now now, Turn& turn) {
  SchedulerConfig config = state_.scheduler();
  const auto weight = [](const std::optional<double>& wanted, const char* field, double& into) -> absl::Status {
    if (!wanted) return absl::OkStatus();
    RETURN_IF_ERROR(check_within(field, *wanted, 0, kMaxScoreWeight));
    into = bounded(*wanted, 0, kMaxScoreWeight, 0);  // without a negative zero
    return absl::OkStatus();
  };
  if (c.strategy) {
    if (*c.strategy < Strategy::Smart || *c.strategy > Strategy::Affinity) {
      return bad_field("strategy", "must be one of smart, round_robin, least_connections, resource_priority, affinity");
    }
    config.strategy = *c.strategy;
  }
  if (c.packing) {
    if (*c.packing != Packing::Spread && *c.packing != Packing::Pack)
      return bad_field("packing", "must be spread or pack");
    config.packing = *c.packing;
  }
  if (c.preemption) config.preemption = *c.preemption;
  if (c.reserve_after) {
    if (*c.reserve_after < Duration(0) || *c.reserve_after > kMaxReserveAfter) {
      return bad_field("reserve_after_ms", "must be between 0 (never) and ", kMaxReserveAfter.count() / 1000);
    }
    config.reserve_after = *c.reserve_after;
  }
  RETURN_IF_ERROR(weight(c.capacity, "weight_capacity", config.capacity));
  RETURN_IF_ERROR(weight(c.load, "weight_load", config.load));
  RETURN_IF_ERROR(weight(c.affinity, "weight_affinity", config.affinity));
  RETURN_IF_ERROR(weight(c.zone, "weight_zone", config.zone));
  RETURN_IF_ERROR(weight(c.history, "weight_history", config.history));
  RETURN_IF_ERROR(weight(c.threshold, "threshold", config.threshold));
  if (config != state_.scheduler()) {
    write(PutScheduler{config}, turn);
    record_act(c.principal, {"scheduler.set", "scheduler", in_words(config)}, now, turn);
    check_reservations(now, true);
    preempt_due_ = config.preemption;
    fill_all(now, turn);
  }
  return config;
}

}  // namespace hodei::core
