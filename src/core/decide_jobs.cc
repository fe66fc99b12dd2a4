// Submission, cancel, direct assignment, templates.
#include <algorithm>

#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/job/draft.h"
#include "src/core/placement/rules/company.h"
#include "src/core/placement/rules/namespace.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

absl::Status Engine::check_room(const Submit& c) const {
  if (state_.jobs().size() + c.jobs.size() > config_.max_live_jobs) {
    return absl::ResourceExhaustedError(cat("the queue is full: the limit is ", config_.max_live_jobs,
                                            " unfinished jobs; try again when some have finished"));
  }
  if (state_.job_bytes() >= config_.max_job_bytes) {
    return absl::ResourceExhaustedError(
        cat("the queue is full: unfinished jobs use ", size_text(static_cast<int64_t>(state_.job_bytes())),
            " of memory and the limit is ", size_text(static_cast<int64_t>(config_.max_job_bytes)),
            " (queue_memory); try again when some have finished, or give jobs "
            "fewer labels, rules and tolerations"));
  }
  RETURN_IF_ERROR(check_keys(c));
  RETURN_IF_ERROR(check_fingerprints(c));
  RETURN_IF_ERROR(check_shapes(c));
  RETURN_IF_ERROR(check_abilities(c));
  return check_pending(c);
}

absl::Status Engine::check_shapes(const Submit& c) const {
  const Roster& roster = state_.roster();
  if (roster.judgement_bytes() < config_.max_judgement_bytes) return absl::OkStatus();
  const auto is_new = [&](const NewJob& job) { return !roster.knows(*job.head.shape); };
  if (std::none_of(c.jobs.begin(), c.jobs.end(), is_new)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      cat("constraints: ", roster.shapes(), " different combinations of resources and rules are waiting for ",
          roster.kinds(),
          " kinds of workers, which is the limit; reuse the resources and rules of other jobs "
          "(rounded sizes help), or try again when some have finished"));
}

// A job that names who makes its worker, and asks for what none of those workers can do, would wait for ever.
absl::Status Engine::check_abilities(const Submit& c) const {
  for (const NewJob& job : c.jobs) {
    const Shape& shape = *job.head.shape;
    if (shape.asks == 0) continue;
    const PoolRow* pool = pool_of(shape);
    const std::string& name = shape.provider.empty() && pool != nullptr ? pool->provider : shape.provider;
    const auto provider = state_.providers().find(name);
    if (provider == state_.providers().end()) continue;
    const uint32_t missing = shape.asks & provider->second.facts.lacks;
    if (missing == 0) continue;
    return bad_field((missing & kSandbox) != 0 ? "sandbox" : "secret_files", "workers of provider '", name,
                     "' cannot do this; leave it out (the container or pod already confines the job), or choose "
                     "another provider");
  }
  return absl::OkStatus();
}

// A key that the engine has forgotten may belong to a job all the same. The store was asked before the command came in;
// whatever was stored after that must still be remembered here.
absl::Status Engine::check_keys(const Submit& c) const {
  const JobId forgotten = state_.idempotency().forgotten();
  if (forgotten == JobId{}) return absl::OkStatus();
  for (const NewJob& job : c.jobs) {
    if (!job.idempotency || job.key_owner || job.key_asked_before > forgotten || state_.idempotent(*job.idempotency))
      continue;
    return absl::UnavailableError("idempotency_key: too many new keys arrived at once to check this one; try again");
  }
  return absl::OkStatus();
}

// A key stands for one request: with another spec it is somebody's mistake, and answering with the first job would hide
// it. The payload names that job, so that whoever can read its spec can say what differs.
absl::Status Engine::check_fingerprints(const Submit& c) const {
  std::map<Hash128, uint64_t> here;  // of keys that this command uses
  for (size_t i = 0; i < c.jobs.size(); ++i) {
    const NewJob& job = c.jobs[i];
    if (!job.idempotency || job.fingerprint == 0 || job.allow_other_spec) continue;
    std::optional<KeyOwner> owner = state_.idempotent(*job.idempotency);
    if (!owner) owner = job.key_owner;
    const std::string field = c.jobs.size() == 1 ? "idempotency_key" : cat("specs[", i, "].idempotency_key");
    if (!owner) {
      const auto [first, is_new] = here.try_emplace(*job.idempotency, job.fingerprint);
      if (is_new || first->second == job.fingerprint) continue;
      return absl::AlreadyExistsError(cat(field, ": the same key occurs twice in this request, with different specs"));
    }
    if (owner->fingerprint == 0 || owner->fingerprint == job.fingerprint) continue;
    absl::Status status = absl::AlreadyExistsError(cat(field, ": this key belongs to job ", short_id(owner->job),
                                                       ", which has a different spec; use a new key for a new job"));
    status.SetPayload(kKeyConflict.data(), absl::Cord(cat(short_id(owner->job), " ", i)));
    return status;
  }
  return absl::OkStatus();
}

// Such a job waits, perhaps for ever: the pool or provider may yet come, but more often its name is wrong.
std::string Engine::unknown_place(const Shape& shape) const {
  const auto any_worker = [this](const auto& is_there) { return state_.roster().any_kind(is_there); };
  if (!shape.pool.empty() && !state_.pools().contains(shape.pool) && !any_worker([&](const WorkerInfo& w) {
        const auto pool = w.labels.find("pool");
        return pool != w.labels.end() && pool->second == shape.pool;
      })) {
    return cat("pool '", shape.pool, "' does not exist, and no worker belongs to it (see `hodei pool list`)");
  }
  for (const auto& [what, name] :
       {std::pair("provider", &shape.provider), std::pair("preferred provider", &shape.preferred_provider)}) {
    if (name->empty() || state_.providers().contains(*name)) continue;
    if (any_worker([&, name = name](const WorkerInfo& w) { return w.provider == *name; })) continue;
    return cat(what, " '", *name, "' does not exist, and no worker comes from it (see `hodei provider list`)");
  }
  return {};
}

Engine::Answer Engine::on(const Submit& c, Now now, Turn& turn) {
  RETURN_IF_ERROR(check_room(c));
  Submitted out;
  out.jobs.reserve(c.jobs.size());
  JobId next{state_.next_job()};
  for (const NewJob& job : c.jobs) out.jobs.push_back(submit_one(job, next, now, turn));
  if (number(next) != state_.next_job()) write(PutNextJob{number(next)}, turn);
  return out;
}

Submitted::One Engine::submit_one(const NewJob& job, JobId& next, Now now, Turn& turn) {
  if (job.idempotency) {
    if (const std::optional<KeyOwner> known = state_.idempotent(*job.idempotency)) return {known->job, true};
    if (job.key_owner) return {job.key_owner->job, true};
  }
  const JobId id = std::exchange(next, JobId{number(next) + 1});

  JobHead head = job.head;
  head.id = id;
  head.state = JobState::Pending;
  head.created = now.wall;
  head.shape = state_.roster().shared(head.shape);
  head.ns = state_.roster().shared(head.ns);
  head.labels = state_.roster().shared(head.labels);

  job.spec->job = id;
  write(PutSpec{job.spec}, turn);
  if (job.idempotency) {
    write(PutIdempotency{{*job.idempotency, id, steady_wall(now) + config_.idempotency_life, job.fingerprint}}, turn);
  }
  const std::string& key = head.concurrency_key;
  const std::string ns = head.ns.str();
  bool limit_raised = false;
  if (!key.empty()) {
    const int64_t before = state_.has_key(ns, key) ? state_.keys().at(ns, key).limit : 0;
    const int64_t limit = job.key_limit > 0 ? job.key_limit : std::max<int64_t>(before, 1);
    limit_raised = before != 0 && limit > before;
    if (limit != before) write(PutKeyLimit{{ns, key, limit}}, turn);
  }
  const auto stored = std::make_shared<const JobHead>(std::move(head));
  write(PutJob{stored}, turn);
  turn.effects.push_back(JobMoved{stored, 0});
  if (limit_raised) place_woken(wake_key(ns, stored->concurrency_key, now), now, turn);
  place_job(id, now, turn);
  Submitted::One out{id, false};
  if (state_.job(id)->head->state != JobState::Pending) return out;
  out.note = unknown_place(*stored->shape);
  if (!out.note.empty()) out.note += "; the job waits until it does";
  return out;
}

Engine::Answer Engine::on(const Cancel& c, Now now, Turn& turn) {
  const LiveJob* live = state_.job(c.job);
  if (live == nullptr) return absl::NotFoundError(cat("job ", short_id(c.job), " is neither waiting nor running"));
  const std::string reason = c.reason.empty() ? "cancelled on request" : cat("cancelled on request: ", c.reason);
  Draft draft(*live->head);
  if (draft.head.state == JobState::Pending) {
    draft.head.cancel_requested = true;
    draft.past.cancel_reason = c.reason;
    draft.move(JobEvent::Cancel, now.wall, reason);
    store(draft, now, turn);
    return CancelTaken{JobState::Cancelled};
  }
  if (draft.head.cancel_requested) return CancelTaken{draft.head.state};
  draft.head.cancel_requested = true;
  draft.past.cancel_reason = c.reason;
  draft.past.reason = "cancel requested; waiting for the worker to stop it";
  const JobState state = draft.head.state;
  const JobHead head = draft.head;
  write(PutJob{draft.finish()}, turn);
  if (const LiveWorker* worker = state_.worker(head.worker); worker != nullptr && worker->connected) {
    turn.effects.push_back(CancelExecution{head.worker, worker->stream, head.current(), false, head.grace});
  }
  return CancelTaken{state};
}

Engine::Answer Engine::on(const Assign& c, Now now, Turn& turn) {
  const LiveJob* live = state_.job(c.job);
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
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr) return absl::NotFoundError(cat("worker ", c.worker.str(), " is not registered"));
  if (!worker->available() || !worker->has_slot()) {
    return absl::FailedPreconditionError(
        cat("worker ", c.worker.str(), " is ", name(worker->shown_state()), worker->connected ? "" : ", not connected",
            worker->unhealthy ? ", unhealthy" : "",
            worker->paused ? ", paused because it did not start the last job it was given" : "",
            worker->has_slot() ? "" : ", with no free slot"));
  }
  if (const std::optional<std::string> no = rejects_namespace(head.ns.str(), worker->record->info)) {
    return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " ", *no, " (rule ", kNamespaceRule, ")"));
  }
  if (const std::optional<Rejection> no = first_rejection(*head.shape, worker->record->info)) {
    return absl::FailedPreconditionError(
        cat("worker ", c.worker.str(), " ", no->reason, " (rule ", no->rule->name, ")"));
  }
  if (const std::optional<std::string> no = rejects_company(*head.shape, *worker)) {
    return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " ", *no, " (rule ", kCompanyRule, ")"));
  }
  if (!worker->free().covers(head.shape->needs)) {
    return absl::FailedPreconditionError(cat("worker ", c.worker.str(), " does not have enough free capacity"));
  }
  if (key_is_full(head, now)) {
    return absl::FailedPreconditionError(cat("job ", short_id(c.job), " must wait: ", held_by_key(head, now)));
  }
  if (!state_.roster().admits(*live->lane)) {
    return absl::FailedPreconditionError(cat("job ", short_id(c.job), " must wait: ", held_by_quota(*live->lane)));
  }
  Decision decision;
  decision.score = score_of(*worker, fit_of(*head.shape, worker->record->info), state_.scheduler());
  decision.considered = 1;
  const std::string key = head.concurrency_key;
  const std::string ns = head.ns.str();
  assign(c.job, *worker, std::move(decision), now, turn);
  record_act(c.principal, {"job.assigned", short_id(c.job), cat("to worker ", c.worker.str()), ns}, now, turn);
  if (!key.empty()) place_woken(wake_key(ns, key, now), now, turn);
  return Assigned{state_.job(c.job)->head->current()};
}

Engine::Answer Engine::on(const ForgetJobs& c, Now now, Turn& turn) {
  if (c.jobs.size() > kMaxForgottenAtOnce) {
    return bad_field("jobs", "must list at most ", kMaxForgottenAtOnce, ", not ", c.jobs.size());
  }
  Forgotten out;
  for (const auto& [job, ns, key] : c.jobs) {
    if (state_.job(job) != nullptr) {
      out.live.push_back(job);
      continue;
    }
    write(EraseJob{job}, turn);
    // A person who deletes a job wants to be able to submit it again. A rule must not: the client that did not hear of
    // its job may still be asking for it.
    if (c.principal.empty()) continue;
    if (key) write(DeleteIdempotency{*key, job}, turn);
    record({.ns = ns, .principal = c.principal, .action = "job.delete", .subject = short_id(job), .detail = c.reason},
           now, turn);
  }
  return out;
}

Engine::Answer Engine::on(const PutJobTemplate& c, Now now, Turn& turn) {
  const State::StoredFacts* before = state_.job_template(c.row.ns, c.row.name);
  if (before == nullptr && state_.template_count() >= config_.max_templates) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_templates,
                                            " templates, which is the limit; delete one with `hodei template rm`"));
  }
  TemplateRow row = c.row;
  row.revision = before == nullptr ? 1 : before->revision + 1;
  row.updated = now.wall;
  write(PutTemplate{row}, turn);
  record_act(c.principal, {"template.set", row.name, cat("revision ", row.revision), row.ns}, now, turn);
  return TemplatePut{std::move(row)};
}

Engine::Answer Engine::on(const DropJobTemplate& c, Now now, Turn& turn) {
  if (state_.job_template(c.ns, c.name) == nullptr) {
    return absl::NotFoundError(cat("there is no template '", c.name, "' in namespace '", c.ns, "'"));
  }
  write(DeleteTemplate{c.ns, c.name}, turn);
  record_act(c.principal, {"template.removed", c.name, "", c.ns}, now, turn);
  return Done{};
}

}  // namespace hodei::core
