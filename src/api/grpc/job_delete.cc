#include "src/api/grpc/job_delete.h"

#include <set>

#include "src/api/grpc/submissions.h"
#include "src/api/grpc/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxReason = 1000;

absl::Status still_live(JobId job, core::JobState state) {
  return absl::FailedPreconditionError(
      cat("job ", short_id(job), " is ", core::name(state),
          "; only a finished job can be deleted: end it first with `hodei job cancel --wait ", short_id(job),
          "`. Nothing was deleted"));
}

std::optional<Hash128> key_of(const core::SpecRow& row, const std::string& ns) {
  v1::JobSpec spec;
  if (!spec.ParseFromString(row.bytes) || spec.idempotency_key().empty()) return std::nullopt;
  return key_hash(ns, spec.idempotency_key());
}

absl::StatusOr<core::ForgetJobs> command_of(store::Reader& reader, const std::string& principal,
                                            const v1::DeleteJobsRequest& in) {
  if (in.job_ids_size() == 0 || static_cast<size_t>(in.job_ids_size()) > core::kMaxForgottenAtOnce) {
    return bad_field("job_ids", "must list 1 to ", core::kMaxForgottenAtOnce, " jobs, not ", in.job_ids_size());
  }
  if (in.reason().size() > kMaxReason) return bad_field("reason", "must have at most ", kMaxReason, " characters");
  core::ForgetJobs command{.principal = principal, .reason = in.reason()};
  std::set<JobId> named;
  for (const std::string& text : in.job_ids()) {
    ASSIGN_OR_RETURN(const JobId id, parse_job_id(text));
    if (!named.insert(id).second) continue;
    ASSIGN_OR_RETURN(const store::JobView view, reader.job(id));
    if (!core::is_terminal(view.head.state)) return still_live(id, view.head.state);
    const std::string ns = view.head.ns.str();
    command.jobs.push_back({id, ns, key_of(view.spec, ns)});
  }
  return command;
}

}  // namespace

void delete_jobs(server::Server& server, const std::string& principal, const v1::DeleteJobsRequest& in,
                 v1::DeleteJobsResponse* out, grpc::ServerUnaryReactor* reactor) {
  const absl::Status taken = server.reads().post([&server, principal, &in, out, reactor] {
    absl::StatusOr<core::ForgetJobs> command = command_of(server.reader(), principal, in);
    if (!command.ok()) return reactor->Finish(to_grpc(command.status()));
    // The output first: while the job is there, somebody who deletes it again after a failure finds it.
    for (const auto& [job, ns, key] : command->jobs) {
      if (const absl::Status cleared = server.logs().clear(job).status(); !cleared.ok() && !absl::IsNotFound(cleared)) {
        return reactor->Finish(to_grpc(cleared));
      }
    }
    const auto count = static_cast<int>(command->jobs.size());
    server.loop().post_bounded(*std::move(command), [out, reactor, count](absl::StatusOr<core::Reply> reply) {
      if (reply.ok()) out->set_deleted(count - static_cast<int>(std::get<core::Forgotten>(*reply).live.size()));
      reactor->Finish(to_grpc(reply.status()));
    });
  });
  if (!taken.ok()) reactor->Finish(to_grpc(taken));
}

}  // namespace hodei::api
