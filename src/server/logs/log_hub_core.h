// The log hub without its thread: everything that happens to output in the server, called step by step. LogHub gives it
// a thread, the simulator calls it from events.
//
// How the race between a subscription and a job's end is closed: subscribe() first makes the hub remember the job, then
// asks JobEnds. The server calls job_finished() after the commit that ended the job. So an end that is committed before
// the question is in its answer, and one that is committed later finds the job remembered.
#pragma once

#include <memory>

#include "src/server/logs/log_writer.h"
#include "src/server/logs/subscription.h"

namespace hodei::server {

class LogHubCore {
 public:
  // The store and the clocks outlive the hub; the store outlives its subscriptions too. `retention` is the clock that
  // the store stamps its blocks with; without it, `clock`.
  LogHubCore(store::NumberedLogStore& store, JobEnds job_ends, const Clock& clock, LogHubLimits limits = {},
             const Clock* retention = nullptr);

  // Takes what has come and brings it to the disk, the workers and those who watch. One thread at a time.
  void step() { writer_.step(); }
  bool wants_step() const { return writer_.wants_step(); }
  // About once a second: tries again what could not be written, gives up on what will not come, expires old output.
  void tick();

  // From any thread. True: taken. False: full; the pieces are still the caller's, who stops reading from that worker
  // and offers them again after source->room(). INVALID_ARGUMENT: they make no sense and never will.
  absl::StatusOr<bool> offer(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece>& pieces);

  // The worker will never send the rest: ends the log with a gap of unknown size, unless it has ended.
  void execution_lost(ExecutionId execution);
  // After the commit: when the log has so many bytes, it has ended.
  void execution_ended(ExecutionId execution, int64_t log_bytes);
  // After the commit. 0: it never had an execution.
  void job_finished(JobId job, uint32_t last_execution);

  // `ready` is called in step(), job_finished(), tick(), clear(), stop(), and must only pass the word
  // on: next() may read from the disk. It can come once more while the subscription is being let go of, so it must own
  // what it touches.
  absl::StatusOr<std::shared_ptr<Subscription>> subscribe(const SubscribeRequest& request, std::function<void()> ready);

  absl::StatusOr<LogPage> get_logs(const GetLogsRequest& request) const;
  // FAILED_PRECONDITION while the job is not finished. Returns the bytes.
  absl::StatusOr<int64_t> clear(JobId job);

  LogHubStats stats() const;
  // With UNAVAILABLE: the server stops, or leads no more.
  void end_subscriptions() { wake_all(live_->stop()); }

 protected:
  LogWriter& writer() { return writer_; }

 private:
  bool is_late(const JobEnd& end) const;
  absl::StatusOr<JobEnd> end_of(JobId job) const;
  MonoTime give_up_at(const JobEnd& end) const;

  store::NumberedLogStore& store_;
  const JobEnds job_ends_;
  const Clock& clock_;
  const LogHubLimits limits_;
  const std::shared_ptr<LiveLogs> live_;  // shared with subscriptions, which may outlive the hub
  LogWriter writer_;
};

}  // namespace hodei::server
