#include "src/server/logs/job_ends.h"

#include "src/base/status.h"

namespace hodei::server {

JobEnds job_ends_from(store::Reader& reader) {
  return [&reader](JobId job) -> absl::StatusOr<std::optional<JobEnd>> {
    const absl::StatusOr<store::JobView> view = reader.job(job);
    if (absl::IsNotFound(view.status())) return std::optional<JobEnd>();
    RETURN_IF_ERROR(view.status());
    JobEnd end;
    end.finished = core::is_terminal(view->head.state);
    end.last_execution = view->head.executions;
    end.finished_at = view->ended;
    if (view->head.past == nullptr) return std::optional<JobEnd>(end);
    ASSIGN_OR_RETURN(const std::vector<store::PrintedBytes> archived, reader.printed(job));
    // An execution is archived when the next one is dispatched.
    const std::vector<core::Execution>& newest = view->head.past->executions;
    const WallTime over = newest.empty() ? WallTime{} : newest.front().scheduled;
    for (const store::PrintedBytes& one : archived) end.printed.push_back({one.execution, one.bytes, over});
    for (const core::Execution& e : view->head.past->executions) {
      if (e.log_bytes) end.printed.push_back({e.number, *e.log_bytes, e.ended});
    }
    return std::optional<JobEnd>(end);
  };
}

}  // namespace hodei::server
