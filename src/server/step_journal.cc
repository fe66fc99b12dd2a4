#include "src/server/step_journal.h"

#include <algorithm>
#include <string>

#include "src/base/journal.h"
#include "src/base/trace.h"

namespace hodei::server {
namespace {

void write_steps(const core::JobHead& job, size_t first, const core::SpecRow* spec) {
  const std::string trace = spec == nullptr ? "unknown" : trace_text(trace_of(job.id, spec->bytes).trace);
  const std::string about = cat("job=", short_id(job.id), " trace=", trace);
  if (first == 0)
    journal(Level::Debug, "server", about, " state=", core::name(core::JobState::Pending), " reason=submitted");
  const size_t count = core::transition_count(job);
  for (size_t i = std::max<size_t>(first, 1); i < count; ++i) {
    const core::Transition* t = core::find_transition(job, i);
    if (t == nullptr) continue;
    journal(Level::Debug, "server", about, " state=", core::name(t->to), " execution=", t->execution,
            " reason=", t->reason);
  }
}

}  // namespace

void StepJournal::tell(const core::JobPtr& job, size_t first, std::shared_ptr<const core::SpecRow> spec) {
  if (spec != nullptr) return write_steps(*job, first, spec.get());
  const absl::Status posted = pool_.post({.lane = ReadPool::Lane::Quick}, [&reader = reader_, job, first] {
    const auto rows = reader.specs({job->id});
    write_steps(*job, first, rows.ok() && !rows->empty() ? rows->front().get() : nullptr);
  });
  if (!posted.ok()) write_steps(*job, first, nullptr);
}

}  // namespace hodei::server
