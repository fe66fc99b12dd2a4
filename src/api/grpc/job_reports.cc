// The unary forms of a worker's reports, fenced like those of the stream.
#include "src/api/grpc/execution_facts.h"
#include "src/api/grpc/job_service.h"
#include "src/api/grpc/session_call.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxOutput = 64 * 1024;

// A report with one item; the answer says whether the execution was the current one. About what was never given to it a
// worker may not even ask.
template <class Out>
grpc::ServerUnaryReactor* report(server::Server& server, grpc::CallbackServerContext* c,
                                 const std::string& execution_id, Out* out,
                                 std::function<void(ExecutionId, core::Report&)> add) {
  const absl::StatusOr<ExecutionId> execution = parse_execution_id(execution_id);
  if (!execution.ok()) return finish(c, execution.status());
  if (!session_in(*c)) return finish(c, needs_session());
  const absl::StatusOr<ExecutionFacts> facts = find_execution(server.lookups(), *execution);
  if (!facts.ok()) return finish(c, facts.status());
  return decide_for_worker(
      server, c,
      [&server, facts = *facts, execution = *execution,
       add = std::move(add)](const WorkerId& worker) -> absl::StatusOr<core::Command> {
        if (const absl::Status own = check_owner(facts, execution, worker); !own.ok()) {
          server.refused_claims().count(server::Claim::Report);
          return own;
        }
        core::Report r;
        r.worker = worker;
        add(execution, r);
        return core::Command(std::move(r));
      },
      [&server, out](const core::Reply& reply) {
        const bool accepted = std::get<core::Reported>(reply).accepted.at(0);
        if (!accepted) server.refused_claims().count(server::Claim::Report);
        out->set_accepted(accepted);
      });
}

}  // namespace

JobService::Unary* JobService::StartJob(Context* c, const v1::StartJobRequest* in, v1::StartJobResponse* out) {
  const WallTime now = server_.clock().now().wall;
  return report(server_, c, in->execution_id(), out, [now](ExecutionId e, core::Report& r) {
    r.started.push_back({e, now});
  });
}

JobService::Unary* JobService::UpdateProgress(Context* c, const v1::UpdateProgressRequest* in,
                                              v1::UpdateProgressResponse* out) {
  const absl::Status usable = check_within("percentage", in->percentage(), 0, 100);
  if (!usable.ok()) return finish(c, usable);
  return report(server_, c, in->execution_id(), out, [in](ExecutionId e, core::Report& r) {
    r.progress.push_back({e, in->percentage(), in->message()});
  });
}

JobService::Unary* JobService::CompleteJob(Context* c, const v1::CompleteJobRequest* in, v1::CompleteJobResponse* out) {
  if (in->output().size() > kMaxOutput)
    return finish(c, bad_field("output", "must have at most ", kMaxOutput, " bytes"));
  const WallTime now = server_.clock().now().wall;
  return report(server_, c, in->execution_id(), out, [in, now](ExecutionId e, core::Report& r) {
    core::ResultReport result;
    result.execution = e;
    result.outcome = core::Outcome::Succeeded;
    result.exit_code = 0;
    result.output = in->output();
    result.ended = now;
    r.results.push_back(std::move(result));
  });
}

JobService::Unary* JobService::FailJob(Context* c, const v1::FailJobRequest* in, v1::FailJobResponse* out) {
  const WallTime now = server_.clock().now().wall;
  return report(server_, c, in->execution_id(), out, [in, now](ExecutionId e, core::Report& r) {
    core::ResultReport result;
    result.execution = e;
    result.outcome = core::Outcome::Failed;
    result.exit_code = in->exit_code();
    result.failure = "reported";
    result.message = in->error();
    result.ended = now;
    r.results.push_back(std::move(result));
  });
}

}  // namespace hodei::api
