#include "src/api/grpc/waiting_reasons.h"

#include "src/api/grpc/translate.h"

namespace hodei::api {

void tell_why_waiting(server::Server& server, const std::vector<v1::Job*>& jobs, grpc::ServerUnaryReactor* call) {
  core::WhyWaiting question;
  std::vector<v1::Job*> waiting;
  for (v1::Job* job : jobs) {
    const absl::StatusOr<JobId> id = parse_job_id(job->short_id());
    if (job->state() != v1::Job::Pending || !id.ok()) continue;
    question.jobs.push_back(*id);
    waiting.push_back(job);
  }
  // A loop that cannot answer now, or is too busy to, leaves the jobs with the words that the store has.
  const server::LoopHealth health = server.loop().health();
  if (waiting.empty() || !health.loaded || !health.trouble.ok()) return call->Finish(grpc::Status::OK);
  server.loop().post_bounded(core::Question(std::move(question)),
                             [waiting = std::move(waiting), call](const absl::StatusOr<core::Reply>& reply) {
                               if (reply.ok()) {
                                 const std::vector<std::string>& words = std::get<core::WaitingWords>(*reply).words;
                                 for (size_t i = 0; i < waiting.size(); ++i) {
                                   if (!words[i].empty()) waiting[i]->set_reason(words[i]);
                                 }
                               }
                               call->Finish(grpc::Status::OK);
                             });
}

}  // namespace hodei::api
