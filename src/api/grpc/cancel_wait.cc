#include "src/api/grpc/cancel_wait.h"

#include "src/api/grpc/translate.h"

namespace hodei::api {
namespace {

// Shared by the watcher and the reply to the cancel itself: whichever sees the end first answers.
struct Answer {
  std::mutex mutex;
  grpc::ServerUnaryReactor* reactor;   // null: answered
  v1::CancelJobResponse* out;
  uint64_t watch = 0;

  void give(const absl::Status& status, std::optional<core::JobState> state) {
    grpc::ServerUnaryReactor* to = nullptr;
    {
      const std::lock_guard lock(mutex);
      to = std::exchange(reactor, nullptr);
      if (to != nullptr && state) out->set_state(to_proto(*state));
    }
    if (to != nullptr) to->Finish(to_grpc(status));
  }
};

}  // namespace

void wait_for_cancel(server::Server& server, JobId job, const std::string& reason, std::function<absl::Status(JobId)> absent,
                     grpc::ServerUnaryReactor* reactor, v1::CancelJobResponse* out) {
  auto answer = std::make_shared<Answer>();
  answer->reactor = reactor;
  answer->out = out;
  const uint64_t watch = server.events().watch_job(job, [answer](const std::shared_ptr<const server::JobEvent>& event) {
    if (core::is_terminal(event->job->state)) answer->give(absl::OkStatus(), event->job->state);
  });
  server.loop().post_bounded(core::Cancel{job, reason}, [&server, answer, watch, job, absent](absl::StatusOr<core::Reply> reply) {
    if (absl::IsNotFound(reply.status())) {
      const absl::Status taken =
          server.reads().post([answer, absent, job] { answer->give(absent(job), std::nullopt); });
      if (!taken.ok()) answer->give(taken, std::nullopt);
    } else if (!reply.ok()) {
      answer->give(reply.status(), std::nullopt);
    }
    // Otherwise the watch ends with the job.
    if (!reply.ok()) server.events().unwatch(watch);
  });
}

}  // namespace hodei::api
