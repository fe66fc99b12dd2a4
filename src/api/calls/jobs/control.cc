// Placing a job by hand, and ending one.
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/late_answer.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/translate.h"
#include "src/api/calls/watch.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxCancelReason = 1000;

// "job j2 has already …"
std::string_view ended_as(core::JobState state) {
  switch (state) {
    case core::JobState::Succeeded: return "succeeded";
    case core::JobState::Failed: return "failed";
    case core::JobState::Cancelled: return "been cancelled";
    case core::JobState::Timeout: return "timed out";
    default: return "moved on; try again";
  }
}

// A job that is not in the engine any more: not found, or finished, which is FAILED_PRECONDITION. Reads.
absl::Status explain_absence(store::Reader& reader, JobId job) {
  const absl::StatusOr<store::JobView> view = reader.job(job);
  RETURN_IF_ERROR(view.status());
  return absl::FailedPreconditionError(cat("job ", short_id(job), " has already ", ended_as(view->head.state)));
}

// Answers when the job has ended. The watcher and the reply to the cancel itself: whichever sees the end first answers.
// A server that stops answers UNAVAILABLE at once: the request is durable, and a caller who asks again gets the result.
void cancel_and_wait(const JobPorts& p, const Call& call, core::Cancel command, Answer<v1::CancelJobResponse> answer) {
  const JobId job = command.job;
  const auto watch = std::make_shared<Watch>();
  const LateAnswer<v1::CancelJobResponse> late(call, p.open_calls, std::move(answer), [&p, watch] {
    watch->end([&p](uint64_t number) { p.events.unwatch(number); });
  });
  // Events come on the loop's thread, while the hub is held: there the watch cannot be let go of.
  const auto on_event = [&p, late](const std::shared_ptr<const server::JobEvent>& event) {
    const core::JobState state = event->job->state;
    if (!core::is_terminal(state)) return;
    p.replies.post(Replies::Lane::Quick, [late, state] {
      late.give(absl::OkStatus(), [state](v1::CancelJobResponse* out) { out->set_state(to_proto(state)); });
    });
  };
  watch->begin([&] { return p.events.watch_job(job, on_event); });
  p.commands.post_bounded(call.envelope, std::move(command), [&p, late, job](const absl::StatusOr<core::Reply>& reply) {
    if (reply.ok()) return;  // once the request is accepted, the answer comes with the job's end
    if (!absl::IsNotFound(reply.status())) return late.give(reply.status());
    look_up(
        p.stored, [&p, job] { return explain_absence(p.stored.reader, job); },
        [late](const absl::Status& why) { late.give(why); });
  });
}

}  // namespace

void assign_job(const JobPorts& p, const Call& call, const v1::AssignJobRequest& in,
                Answer<v1::AssignJobResponse> answer) {
  const absl::StatusOr<JobId> id = parse_job_id(in.job_id());
  if (!id.ok()) return answer.give(id.status());
  p.commands.post_bounded(call.envelope, core::Assign{*id, WorkerId(in.worker_id())},
                          [&p, answer, id = *id](const absl::StatusOr<core::Reply>& reply) {
                            const absl::Status status = reply.status();
                            if (reply.ok())
                              answer->set_execution_id(to_string(std::get<core::Assigned>(*reply).execution));
                            if (!absl::IsNotFound(status) || status.message().find("worker") == 0)
                              return answer.give(status);
                            look_up(
                                p.stored, [&p, id] { return explain_absence(p.stored.reader, id); }, answer.give);
                          });
}

void cancel_job(const JobPorts& p, const Call& call, const v1::CancelJobRequest& in,
                Answer<v1::CancelJobResponse> answer) {
  const absl::StatusOr<JobId> id = parse_job_id(in.job_id());
  if (!id.ok()) return answer.give(id.status());
  if (in.reason().size() > kMaxCancelReason) {
    return answer.give(bad_field("reason", "must have at most ", kMaxCancelReason, " characters"));
  }
  answer->set_job_id(public_id(*id));
  answer->set_short_id(short_id(*id));
  if (in.wait()) return cancel_and_wait(p, call, {*id, in.reason()}, std::move(answer));
  p.commands.post_bounded(call.envelope, core::Cancel{*id, in.reason()},
                          [&p, answer, id = *id](const absl::StatusOr<core::Reply>& reply) {
                            if (reply.ok()) answer->set_state(to_proto(std::get<core::CancelTaken>(*reply).state));
                            if (!absl::IsNotFound(reply.status())) return answer.give(reply.status());
                            look_up(
                                p.stored, [&p, id] { return explain_absence(p.stored.reader, id); }, answer.give);
                          });
}

}  // namespace hodei::api
