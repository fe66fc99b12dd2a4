#include "src/api/calls/jobs/waiting_reasons.h"

#include <utility>

#include "src/base/text.h"

namespace hodei::api {

std::string broken_input(const InputTrouble& trouble, JobId job) {
  const std::string words = trouble(job);
  return words.empty() ? words : cat(words, " (it fails as soon as a worker could start it)");
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
    if (std::string words = broken_input(trouble, *id); !words.empty()) broken.emplace_back(job, std::move(words));
  }
  // A loop that cannot answer now, or is too busy to, leaves the jobs with the words that the store has.
  if (waiting.empty() || !commands.is_well()) return done(absl::OkStatus());
  commands.post_bounded(envelope, core::Question(std::move(question)),
                        [waiting = std::move(waiting), broken = std::move(broken),
                         done = std::move(done)](const absl::StatusOr<core::Reply>& reply) {
                          if (reply.ok()) {
                            const std::vector<std::string>& words = std::get<core::WaitingWords>(*reply).words;
                            for (size_t i = 0; i < waiting.size(); ++i) {
                              if (!words[i].empty()) waiting[i]->set_reason(words[i]);
                            }
                          }
                          for (const auto& [job, words] : broken) job->set_reason(words);
                          done(absl::OkStatus());
                        });
}

}  // namespace hodei::api
