#include "src/api/grpc/cancel_wait.h"

#include "src/api/grpc/late_answer.h"
#include "src/api/grpc/translate.h"

namespace hodei::api {

// The watcher and the reply to the cancel itself: whichever sees the end first answers.
grpc::ServerUnaryReactor* cancel_and_wait(server::Server& server, JobId job, const std::string& reason,
                                          std::function<absl::Status(JobId)> absent, v1::CancelJobResponse* out) {
  auto watch = std::make_shared<uint64_t>(0);
  const LateAnswer answer(server.open_calls(), [&server, watch] { server.events().unwatch(*watch); });
  *watch = server.events().watch_job(job, [answer, out](const std::shared_ptr<const server::JobEvent>& event) {
    const core::JobState state = event->job->state;
    if (core::is_terminal(state)) answer.give(absl::OkStatus(), [out, state] { out->set_state(to_proto(state)); });
  });
  server.loop().post_bounded(
      core::Cancel{job, reason}, [&server, answer, job, absent](const absl::StatusOr<core::Reply>& reply) {
        if (reply.ok()) return;  // when the wish is taken the answer comes with the job's end
        if (!absl::IsNotFound(reply.status())) return answer.give(reply.status());
        const absl::Status taken = server.reads().post({.lane = server::ReadPool::Lane::Quick},
                                                       [answer, job, absent] { answer.give(absent(job)); });
        if (!taken.ok()) answer.give(taken);
      });
  return answer.reactor();
}

}  // namespace hodei::api
