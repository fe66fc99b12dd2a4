#include "src/server/logs/log_hub_core.h"

#include "src/base/status.h"

namespace hodei::server {

LogHubCore::LogHubCore(store::NumberedLogStore& store, JobEnds job_ends, const Clock& clock, LogHubLimits limits,
                       const Clock* retention)
    : store_(store),
      job_ends_(std::move(job_ends)),
      clock_(clock),
      limits_(limits),
      live_(std::make_shared<LiveLogs>(limits)),
      writer_(store, live_, clock, retention == nullptr ? clock : *retention, limits) {}

void LogHubCore::tick() {
  if (!writer_.is_stuck()) wake_all(live_->give_up(clock_.now().mono));
  writer_.inbox().tick();
}

absl::StatusOr<bool> LogHubCore::offer(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece>& pieces) {
  for (const store::LogPiece& piece : pieces) RETURN_IF_ERROR(store::check_piece(piece));
  return writer_.inbox().offer(source, pieces);
}

void LogHubCore::execution_lost(ExecutionId execution) { writer_.inbox().end_log(execution); }

void LogHubCore::execution_ended(ExecutionId execution, int64_t log_bytes) {
  wake_all(live_->printed(execution.job, {{execution.number, log_bytes}}, clock_.now()));
}

void LogHubCore::job_finished(JobId job, uint32_t last_execution) {
  const Now now = clock_.now();
  wake_all(live_->finish(job, last_execution, now.mono + limits_.end_grace, now.mono));
}

absl::StatusOr<JobEnd> LogHubCore::end_of(JobId job) const {
  ASSIGN_OR_RETURN(const std::optional<JobEnd> end, job_ends_(job));
  if (!end) return absl::NotFoundError(cat("job ", short_id(job), " does not exist"));
  return *end;
}

MonoTime LogHubCore::give_up_at(const JobEnd& end) const {
  const Now now = clock_.now();
  const Duration since = std::max(now.wall - end.finished_at, Duration(0));
  return now.mono + std::max(limits_.end_grace - since, Duration(0));
}

// Whether output that is not here will not come any more.
bool LogHubCore::is_late(const JobEnd& end) const {
  return end.finished && !writer_.is_stuck() && give_up_at(end) <= clock_.now().mono;
}

absl::StatusOr<std::shared_ptr<Subscription>> LogHubCore::subscribe(const SubscribeRequest& request,
                                                                    std::function<void()> ready) {
  if (request.from_offset < 0) return bad_field("from_offset", "must not be negative");
  if (request.from_offset > 0 && request.execution == 0) return bad_field("from_offset", "requires `execution`");
  if (request.tail < 0) return bad_field("tail", "must not be negative");
  if (request.from_offset > 0 && (request.tail > 0 || request.since.is_set())) {
    return bad_field("from_offset", "cannot be combined with `tail` or `since`");
  }
  auto out = std::make_shared<Subscription>(request, std::move(ready), live_, store_, limits_);
  ASSIGN_OR_RETURN(const std::optional<LogStart> start, find_start(store_, request));
  if (start) out->begin_at(*start);
  ASSIGN_OR_RETURN(const JobEnd end, end_of(request.job));
  wake_all(live_->printed(request.job, end.printed, clock_.now()));
  if (end.finished) {
    wake_all(live_->finish(request.job, end.last_execution, give_up_at(end), clock_.now().mono));
  }
  return out;
}

absl::StatusOr<int64_t> LogHubCore::clear(JobId job) {
  ASSIGN_OR_RETURN(const JobEnd end, end_of(job));
  if (!end.finished) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(job), " has not finished; cancel it or wait for it to end"));
  }
  ASSIGN_OR_RETURN(const int64_t bytes, store_.clear(job));
  wake_all(live_->forget(job));
  return bytes;
}

LogHubStats LogHubCore::stats() const {
  LogHubStats stats;
  stats.buffered_bytes = live_->buffered_bytes();
  stats.subscribers = live_->subscribers();
  writer_.add_to(stats);
  return stats;
}

}  // namespace hodei::server
