#include "src/core/jobs/forgetting.h"

#include "src/base/status.h"

namespace hodei::core {

Answer Forgetting::decide(const ForgetJobs& c, Turn& turn) {
  if (c.jobs.size() > kMaxForgottenAtOnce) {
    return bad_field("jobs", "must list at most ", kMaxForgottenAtOnce, ", not ", c.jobs.size());
  }
  Forgotten out;
  for (const auto& [job, ns, key] : c.jobs) {
    if (jobs_.find(job) != nullptr) {
      out.live.push_back(job);
      continue;
    }
    turn.write(EraseJob{job});
    // A person who deletes a job wants to be able to submit it again. The retention must not allow it: the client that
    // did not hear of its job may still be asking for it.
    if (turn.envelope().principal.empty()) continue;
    if (key) turn.write(EraseIdempotency{*key, job});
    audit_.record_act({"job.delete", short_id(job), c.reason, ns}, turn);
  }
  return out;
}

}  // namespace hodei::core
