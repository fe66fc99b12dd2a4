// The unary forms of a worker's reports, fenced like those of the stream.
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/session.h"
#include "src/api/calls/workers/execution_facts.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxOutput = 64 * 1024;

// A report with one item; the answer says whether the execution was the current one. About what was never given to it a
// worker may not even ask.
template <class Response>
void report(const JobPorts& p, const Call& call, const std::string& execution_id, Answer<Response> answer,
            std::function<void(ExecutionId, core::Report&)> add) {
  const absl::StatusOr<ExecutionId> execution = parse_execution_id(execution_id);
  if (!execution.ok()) return answer.give(execution.status());
  if (!call.session) return answer.give(needs_session());
  const absl::StatusOr<ExecutionFacts> facts = find_execution(p.stored.lookups, *execution);
  if (!facts.ok()) return answer.give(facts.status());
  decide_for_worker(
      {p.commands, p.refused}, call,
      [&p, facts = *facts, execution = *execution,
       add = std::move(add)](const WorkerId& worker) -> absl::StatusOr<core::Command> {
        if (const absl::Status own = check_owner(facts, execution, worker); !own.ok()) {
          p.refused.count(server::Claim::Report);
          return own;
        }
        core::Report r;
        r.worker = worker;
        add(execution, r);
        return core::Command(std::move(r));
      },
      [&p, answer](const absl::StatusOr<core::Reply>& reply) {
        if (reply.ok()) {
          const bool accepted = std::get<core::Reported>(*reply).accepted.at(0);
          if (!accepted) p.refused.count(server::Claim::Report);
          answer->set_accepted(accepted);
        }
        answer.give(reply.status());
      });
}

}  // namespace

void start_job(const JobPorts& p, const Call& call, const v1::StartJobRequest& in,
               Answer<v1::StartJobResponse> answer) {
  const WallTime now = p.stored.clock.now().wall;
  report(p, call, in.execution_id(), std::move(answer), [now](ExecutionId e, core::Report& r) {
    r.started.push_back({e, now});
  });
}

void update_progress(const JobPorts& p, const Call& call, const v1::UpdateProgressRequest& in,
                     Answer<v1::UpdateProgressResponse> answer) {
  const absl::Status usable = check_within("percentage", in.percentage(), 0, 100);
  if (!usable.ok()) return answer.give(usable);
  report(p, call, in.execution_id(), std::move(answer), [&in](ExecutionId e, core::Report& r) {
    r.progress.push_back({e, in.percentage(), in.message()});
  });
}

void complete_job(const JobPorts& p, const Call& call, const v1::CompleteJobRequest& in,
                  Answer<v1::CompleteJobResponse> answer) {
  if (in.output().size() > kMaxOutput) {
    return answer.give(bad_field("output", "must have at most ", kMaxOutput, " bytes"));
  }
  const WallTime now = p.stored.clock.now().wall;
  report(p, call, in.execution_id(), std::move(answer), [&in, now](ExecutionId e, core::Report& r) {
    core::ResultReport result;
    result.execution = e;
    result.outcome = core::Outcome::Succeeded;
    result.exit_code = 0;
    result.output = in.output();
    result.ended = now;
    r.results.push_back(std::move(result));
  });
}

void fail_job(const JobPorts& p, const Call& call, const v1::FailJobRequest& in, Answer<v1::FailJobResponse> answer) {
  const WallTime now = p.stored.clock.now().wall;
  report(p, call, in.execution_id(), std::move(answer), [&in, now](ExecutionId e, core::Report& r) {
    core::ResultReport result;
    result.execution = e;
    result.outcome = core::Outcome::Failed;
    if (in.exit_code() != 0) result.exit_code = in.exit_code();
    result.failure = "reported";
    result.message = in.error();
    result.ended = now;
    r.results.push_back(std::move(result));
  });
}

}  // namespace hodei::api
