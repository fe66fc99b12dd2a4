#include "src/core/jobs/dispatches.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "src/base/status.h"
#include "src/core/placement/rules/affinity.h"
#include "src/core/placement/rules/namespace.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

absl::Status Dispatches::check(const LiveJob& job, const LiveWorker& worker, const Turn& turn) const {
  const JobHead& head = *job.head;
  const std::string name_of_worker = cat("worker ", worker.id().str(), " ");
  if (!worker.available() || !worker.has_slot()) {
    return absl::FailedPreconditionError(
        cat(name_of_worker, "is ", name(worker.shown_state()), worker.connected ? "" : ", not connected",
            worker.unhealthy ? ", unhealthy" : "",
            worker.paused ? ", paused because it did not start the last job it was given" : "",
            worker.has_slot() ? "" : ", with no free slot"));
  }
  if (const std::optional<std::string> no = rejects_namespace(head.ns.str(), worker.record->info)) {
    return absl::FailedPreconditionError(cat(name_of_worker, *no, " (rule ", kNamespaceRule, ")"));
  }
  if (const std::optional<Rejection> no = first_rejection(*head.shape, worker.record->info)) {
    return absl::FailedPreconditionError(cat(name_of_worker, no->reason, " (rule ", no->rule->name, ")"));
  }
  if (const std::optional<std::string> no = rejects_affinity(*head.shape, worker)) {
    return absl::FailedPreconditionError(cat(name_of_worker, *no, " (rule ", kAffinityRule, ")"));
  }
  if (!worker.free().covers(head.shape->needs)) {
    return absl::FailedPreconditionError(cat(name_of_worker, "does not have enough free capacity"));
  }
  if (placement_.limits.is_full(head, turn)) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(head.id), " must wait: ", placement_.limits.held_by(head, turn)));
  }
  if (!placement_.roster.admits(*job.lane)) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(head.id), " must wait: ", placement_.quotas.held_by(*job.lane)));
  }
  return absl::OkStatus();
}

Answer Dispatches::decide(const Assign& c, Turn& turn) {
  const LiveJob* live = jobs_.find(c.job);
  if (live == nullptr) return absl::NotFoundError(cat("job ", short_id(c.job), " is neither waiting nor running"));
  const JobHead& head = *live->head;
  if (head.state != JobState::Pending) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(c.job), " is ", name(head.state), ", and only a Pending job can be assigned"));
  }
  if (live->where == LiveJob::Where::Delayed) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(c.job), " is in backoff until ", format_utc(head.not_before)));
  }
  LiveWorker* worker = workers_.find(c.worker);
  if (worker == nullptr) return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  RETURN_IF_ERROR(check(*live, *worker, turn));
  Decision decision;
  decision.score = score_of(*worker, fit_of(*head.shape, worker->record->info), placement_.scheduler.config());
  decision.considered = 1;
  const std::string key = head.concurrency_key;
  const std::string ns = head.ns.str();
  placement_.placer.assign(c.job, *worker, std::move(decision), turn);
  audit_.record_act({"job.assigned", short_id(c.job), cat("to worker ", c.worker.str()), ns}, turn);
  if (!key.empty()) placement_.placer.place_woken(placement_.limits.wake(ns, key, turn), turn);
  return Assigned{jobs_.find(c.job)->head->current()};
}

void Dispatches::dispatch(JobId id, LiveWorker& worker, Decision decision, Turn& turn) {
  Draft draft(*jobs_.find(id)->head);
  JobHead& head = draft.head;
  archive(draft, turn);
  ++head.executions;
  head.worker = worker.id();
  head.not_before = {};
  decision.winner = worker.id();
  Execution execution;
  execution.number = head.executions;
  execution.worker = worker.id();
  execution.provider = worker.record->info.provider;
  if (worker.record->info.made) execution.provider_ref = worker.record->info.made->handle;
  execution.scheduled = turn.wall();
  execution.decision = std::move(decision);
  draft.past.executions.push_back(std::move(execution));
  draft.move(JobEvent::Assign, turn.wall(), cat("assigned to worker ", worker.id().str()));
  const ExecutionId current = head.current();
  const uint32_t attempt = head.attempts + 1;
  const bool has_secrets = head.secrets != nullptr;
  if (has_secrets) record_delivery(head, worker.id(), turn);
  moves_.store(draft, turn);
  turn.tell(RunExecution{worker.id(), worker.stream, current, attempt, has_secrets});
}

// In the same batch as the dispatch: effects leave after the commit, so no secret is on its way before this is durable.
void Dispatches::record_delivery(const JobHead& job, const WorkerId& worker, Turn& turn) {
  audit_.record({.ns = job.ns.str(),
                 .principal = cat("worker ", worker.str()),
                 .action = "secret.delivered",
                 .subject = to_string(job.current()),
                 .detail = *job.secrets},
                turn);
}

void Dispatches::archive(Draft& draft, Turn& turn) {
  const JobId job = draft.head.id;
  for (ArchivedExecution& one : draft.archive()) {
    const uint32_t number = one.execution.number;
    turn.write(PutExecution{job, std::make_shared<const ArchivedExecution>(std::move(one))});
    if (number > kMaxArchivedExecutions) turn.write(DropExecutions{job, number - kMaxArchivedExecutions + 1});
  }
}

}  // namespace hodei::core
