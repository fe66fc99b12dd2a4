#include "src/core/jobs/submissions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "src/base/sizes.h"
#include "src/base/status.h"

namespace hodei::core {

absl::Status Submissions::check(std::span<const NewJob> jobs) const {
  if (jobs_.all().size() + jobs.size() > config_.max_live_jobs) {
    return absl::ResourceExhaustedError(cat("the queue is full: the limit is ", config_.max_live_jobs,
                                            " unfinished jobs; try again when some have finished"));
  }
  if (jobs_.bytes() >= config_.max_job_bytes) {
    return absl::ResourceExhaustedError(
        cat("the queue is full: unfinished jobs use ", size_text(static_cast<int64_t>(jobs_.bytes())),
            " of memory and the limit is ", size_text(static_cast<int64_t>(config_.max_job_bytes)),
            " (queue_memory); try again when some have finished, or give jobs "
            "fewer labels, rules and tolerations"));
  }
  RETURN_IF_ERROR(keys_.check(jobs));
  RETURN_IF_ERROR(check_shapes(jobs));
  for (const NewJob& job : jobs) RETURN_IF_ERROR(ports_.suppliers->check_abilities(*job.head.shape));
  return check_pending(jobs);
}

absl::Status Submissions::check_shapes(std::span<const NewJob> jobs) const {
  const Roster& roster = placement_.roster;
  if (roster.judgement_bytes() < config_.max_judgement_bytes) return absl::OkStatus();
  const auto is_new = [&](const NewJob& job) { return !roster.shapes.knows(*job.head.shape); };
  if (std::none_of(jobs.begin(), jobs.end(), is_new)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      cat("constraints: ", roster.shapes.with_jobs(), " different combinations of resources and rules are waiting for ",
          roster.workers.size(),
          " kinds of workers, which is the limit; reuse the resources and rules of other jobs "
          "(rounded sizes help), or try again when some have finished"));
}

absl::Status Submissions::check_pending(std::span<const NewJob> jobs) const {
  std::map<std::string, int64_t> fresh;
  for (const NewJob& job : jobs) {
    if (!placement_.quotas.limits_pending(job.head.ns)) continue;
    // Who asks again for a job that is there gets it, however full the queue is.
    if (keys_.owner(job)) continue;
    RETURN_IF_ERROR(placement_.quotas.check_pending(job.head.ns, fresh));
  }
  return absl::OkStatus();
}

Answer Submissions::decide(const Submit& c, Turn& turn) {
  RETURN_IF_ERROR(check(c.jobs));
  Submitted out;
  out.jobs.reserve(c.jobs.size());
  JobId next{jobs_.next_number()};
  for (const NewJob& job : c.jobs) out.jobs.push_back(submit_one(job, next, turn));
  if (number(next) != jobs_.next_number()) turn.write(PutNextJob{number(next)});
  return out;
}

Submitted::One Submissions::submit_one(const NewJob& job, JobId& next, Turn& turn) {
  if (const std::optional<JobId> known = keys_.owner(job)) return {*known, true};
  const JobId id = std::exchange(next, JobId{number(next) + 1});
  const JobPtr stored = submit(job, Owner{}, id, turn);
  Submitted::One out{id, false};
  if (jobs_.find(id)->head->state != JobState::Pending) return out;
  out.note = ports_.suppliers->unknown_place(*stored->shape);
  if (!out.note.empty()) out.note += "; the job waits until it does";
  return out;
}

JobPtr Submissions::submit(const NewJob& job, const Owner& owner, JobId id, Turn& turn) {
  JobHead head = job.head;
  head.id = id;
  head.owner = owner;
  head.state = JobState::Pending;
  head.created = turn.wall();
  head.shape = placement_.roster.shapes.shared(head.shape);
  head.ns = placement_.roster.tenants.shared(head.ns);
  head.labels = placement_.roster.labels.shared(head.labels);

  job.spec->job = id;
  turn.write(PutSpec{job.spec});
  if (!owner.is_set()) keys_.put(job, id, turn);
  const bool limit_raised = placement_.limits.set_by_job(head, job.key_limit, turn);
  const auto stored = std::make_shared<const JobHead>(std::move(head));
  turn.write(PutJob{stored});
  turn.tell(JobMoved{stored, 0});
  if (limit_raised) {
    placement_.placer.place_woken(placement_.limits.wake(stored->ns.str(), stored->concurrency_key, turn), turn);
  }
  placement_.placer.place_job(id, turn);
  return stored;
}

// A job that comes late, or twice, is nobody's: its owner has gone on without it, or has it already.
Answer Submissions::decide(const SubmitFor& c, Turn& turn) {
  const auto module = ports_.owners.find(c.owner.module);
  if (module == ports_.owners.end() || !module->second->waits_for(c.owner, c.attempt)) {
    return absl::FailedPreconditionError(cat("nobody waits for the job of attempt ", c.attempt, " of ", c.owner.id));
  }
  const NewJob* job = std::get_if<NewJob>(&c.job);
  const absl::StatusOr<JobId> id =
      job == nullptr ? absl::StatusOr<JobId>(std::get<absl::Status>(c.job)) : submit_for(c.owner, *job, turn);
  module->second->job_came(c.owner, c.attempt, id, turn);
  if (!id.ok()) return Done{};
  return Submitted{{{*id, false}}};
}

absl::StatusOr<JobId> Submissions::submit_for(const Owner& owner, const NewJob& job, Turn& turn) {
  RETURN_IF_ERROR(check(std::span(&job, 1)));
  const JobId id{jobs_.next_number()};
  submit(job, owner, id, turn);
  turn.write(PutNextJob{number(id) + 1});
  return id;
}

}  // namespace hodei::core
