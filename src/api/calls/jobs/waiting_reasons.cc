#include "src/api/calls/jobs/waiting_reasons.h"

#include <utility>

#include "src/base/text.h"

namespace hodei::api {

std::string broken_input(const InputTrouble& trouble, JobId job) {
  const std::string text = trouble(job);
  return text.empty() ? text : cat(text, " (it fails as soon as a worker could start it)");
}

void tell_why_waiting(Commands& commands, const core::EnvelopePtr& envelope, const InputTrouble& trouble,
                      const std::vector<v1::Job*>& jobs, Done done) {
  core::WhyWaiting question;
  std::vector<v1::Job*> waiting;
  std::vector<std::pair<v1::Job*, std::string>> broken;
  for (v1::Job* job : jobs) {
    const absl::StatusOr<JobId> id = parse_job_id(job->short_id());
    if (job->state() != v1::Job::Pending || !id.ok()) continue;
    question.jobs.push_back(*id);
    waiting.push_back(job);
    if (std::string text = broken_input(trouble, *id); !text.empty()) broken.emplace_back(job, std::move(text));
  }
  // A loop that cannot answer now, or is too busy to, leaves the jobs with the text that the store has.
  if (waiting.empty() || !commands.is_well()) return done(absl::OkStatus());
  commands.post_bounded(envelope, core::Question(std::move(question)),
                        [waiting = std::move(waiting), broken = std::move(broken),
                         done = std::move(done)](const absl::StatusOr<core::Reply>& reply) {
                          if (reply.ok()) {
                            const std::vector<std::string>& reasons = std::get<core::WaitReasons>(*reply).reasons;
                            for (size_t i = 0; i < waiting.size(); ++i) {
                              if (!reasons[i].empty()) waiting[i]->set_reason(reasons[i]);
                            }
                          }
                          for (const auto& [job, text] : broken) job->set_reason(text);
                          done(absl::OkStatus());
                        });
}

}  // namespace hodei::api
