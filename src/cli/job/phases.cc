#include "src/cli/job/phases.h"

#include "src/base/text.h"
#include "src/cli/job/job_view.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

// When this execution's job began to wait for it: at its submission, or when the execution before had ended and its
// back-off was over.
WallTime waits_since(const v1::Job& job) {
  if (job.executions_size() < 2) return wall_time(job.created_at());
  return wall_time(job.executions(job.executions_size() - 2).ended_at());
}

void add(std::string& out, std::string_view what, WallTime from, WallTime to) {
  if (!from.is_set() || !to.is_set() || to < from) return;
  out += cat(out.empty() ? "" : ", ", what, " ", human_duration(to - from));
}

}  // namespace

std::string phases(const v1::Job& job, WallTime now) {
  if (job.executions_size() == 0) return {};
  const v1::Execution& e = job.executions(job.executions_size() - 1);
  const WallTime scheduled = wall_time(e.scheduled_at());
  const WallTime prepared = wall_time(e.prepared_at());
  const WallTime started = wall_time(e.started_at());
  const WallTime ended = wall_time(e.ended_at());
  std::string out;
  add(out, "waited", waits_since(job), scheduled);
  add(out, "prepared in", scheduled, prepared);
  add(out, "started in", prepared.is_set() ? prepared : scheduled, started);
  add(out, "ran", started, ended.is_set() ? ended : now);
  return out;
}

}  // namespace hodei::cli
