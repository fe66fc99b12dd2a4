// DeleteJobs: finished jobs go for good.
#include <set>

#include "src/api/calls/jobs/job_calls.h"
#include "src/base/status.h"
#include "src/spec/submission.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxDeleteReason = 1000;

absl::Status still_live(JobId job, core::JobState state) {
  return absl::FailedPreconditionError(
      cat("job ", short_id(job), " is ", core::name(state),
          "; only a finished job can be deleted: end it first with `hodei job cancel --wait ", short_id(job),
          "`. Nothing was deleted"));
}

std::optional<Hash128> idempotency_key_of(const core::SpecRow& row, const std::string& ns) {
  v1::JobSpec spec;
  if (!spec.ParseFromString(row.bytes) || spec.idempotency_key().empty()) return std::nullopt;
  return spec::key_hash(ns, spec.idempotency_key());
}

absl::StatusOr<core::ForgetJobs> command_of(store::Reader& reader, const v1::DeleteJobsRequest& in) {
  if (in.job_ids_size() == 0 || static_cast<size_t>(in.job_ids_size()) > core::kMaxForgottenAtOnce) {
    return bad_field("job_ids", "must list 1 to ", core::kMaxForgottenAtOnce, " jobs, not ", in.job_ids_size());
  }
  if (in.reason().size() > kMaxDeleteReason)
    return bad_field("reason", "must have at most ", kMaxDeleteReason, " characters");
  core::ForgetJobs command{.jobs = {}, .reason = in.reason()};
  std::set<JobId> named;
  for (const std::string& text : in.job_ids()) {
    ASSIGN_OR_RETURN(const JobId id, parse_job_id(text));
    if (!named.insert(id).second) continue;
    ASSIGN_OR_RETURN(const store::JobView view, reader.job(id));
    if (!core::is_terminal(view.head.state)) return still_live(id, view.head.state);
    const std::string ns = view.head.ns.str();
    command.jobs.push_back({id, ns, idempotency_key_of(view.spec, ns)});
  }
  return command;
}

}  // namespace

void delete_jobs(const JobPorts& p, const Call& call, const v1::DeleteJobsRequest& in,
                 Answer<v1::DeleteJobsResponse> answer) {
  const absl::Status taken = p.stored.pool.post([&p, envelope = call.envelope, &in, answer] {
    absl::StatusOr<core::ForgetJobs> command = command_of(p.stored.reader, in);
    if (!command.ok()) return answer.give(command.status());
    // The output is deleted first: after a failure the job still exists and can be deleted again.
    for (const auto& [job, ns, key] : command->jobs) {
      if (const absl::Status cleared = p.logs.clear(job).status(); !cleared.ok() && !absl::IsNotFound(cleared)) {
        return answer.give(cleared);
      }
    }
    const auto count = static_cast<int>(command->jobs.size());
    p.commands.post_bounded(envelope, *std::move(command), [answer, count](const absl::StatusOr<core::Reply>& reply) {
      if (reply.ok()) answer->set_deleted(count - static_cast<int>(std::get<core::Forgotten>(*reply).live.size()));
      answer.give(reply.status());
    });
  });
  if (!taken.ok()) answer.give(taken);
}

}  // namespace hodei::api
