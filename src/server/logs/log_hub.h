// The way of all output through the server: from the workers' streams to the disk, back as acknowledgements, and on to
// those who watch. Logs never pass through the engine.
//
//   worker streams ── offer() ──▶ inbox ──▶ the hub's thread: all that waits is one append, one sync
//                                             ├─▶ LogSource::acknowledged()
//                                             └─▶ live buffers, waiting subscriptions
//
// How the race between a subscription and a job's end is closed: subscribe() first makes the hub remember the job, then
// asks JobEnds. The server calls job_finished() after the commit that ended the job. So an end that is committed before
// the question is in its answer, and one that is committed later finds the job remembered.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "src/server/logs/log_inbox.h"
#include "src/server/logs/subscription.h"

namespace hodei::server {

struct LogHubStats {
  size_t inbox_bytes = 0;
  size_t buffered_bytes = 0;
  size_t subscribers = 0;
  int64_t appended_pieces = 0;  // as workers sent them
  int64_t appended_lines = 0;
  int64_t appended_bytes = 0;
  int64_t appends = 0;
  int64_t failed_appends = 0;
  int64_t after_end = 0;  // pieces behind the end of their log: left out
  bool is_stuck = false;  // the last append failed; workers are held back
};

class LogHub {
 public:
  // The store and the clocks outlive the hub; the store outlives its subscriptions too. `retention` is the clock that
  // the store stamps its blocks with; without it, `clock`.
  LogHub(store::NumberedLogStore& store, JobEnds job_ends, const Clock& clock, LogHubLimits limits = {},
         const Clock* retention = nullptr);
  ~LogHub();

  void start();
  // Ends all subscriptions with UNAVAILABLE. What was not acknowledged is dropped: workers send it again.
  void stop();
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

  // `ready` is called on the hub's thread, or in job_finished(), tick(), clear(), stop(), and must only pass the word
  // on: next() may read from the disk. It can come once more while the subscription is being let go of, so it must own
  // what it touches.
  absl::StatusOr<std::shared_ptr<Subscription>> subscribe(const SubscribeRequest& request, std::function<void()> ready);

  absl::StatusOr<LogPage> get_logs(const GetLogsRequest& request) const;
  // FAILED_PRECONDITION while the job is not finished. Returns the bytes.
  absl::StatusOr<int64_t> clear(JobId job);

  LogHubStats stats() const;

 private:
  // A group on its way to the disk.
  struct Group {
    std::vector<InboxItem> items;              // without their pieces once these are prepared
    std::vector<store::LogPiece> pieces;       // what is new
    std::vector<int64_t> first_lines, begins;  // of each piece
    std::vector<std::pair<std::shared_ptr<LogSource>, LogAck>> acks;
    size_t inbox_bytes = 0;
  };

  void run();
  void prepare(Group& group);
  bool write(Group& group);
  void note_stuck(const absl::Status& written);
  bool is_late(const JobEnd& end) const;
  void tell(Group group);
  void expire_if_due();
  store::LogTail tail_of(ExecutionId execution) const;
  absl::StatusOr<JobEnd> end_of(JobId job) const;
  MonoTime give_up_at(const JobEnd& end) const;

  store::NumberedLogStore& store_;
  const JobEnds job_ends_;
  const Clock& clock_;
  const Clock& retention_;
  const LogHubLimits limits_;
  LogInbox inbox_;
  const std::shared_ptr<LiveLogs> live_;  // shared with subscriptions, which may outlive the hub
  MonoTime next_expire_;                  // the hub's thread only
  std::atomic<int64_t> appended_pieces_ = 0;
  std::atomic<int64_t> appended_lines_ = 0;
  std::atomic<int64_t> appended_bytes_ = 0;
  std::atomic<int64_t> appends_ = 0;
  std::atomic<int64_t> failed_appends_ = 0;
  std::atomic<int64_t> after_end_ = 0;
  std::atomic<bool> is_stuck_ = false;  // what has come cannot be written: nothing is lost or late meanwhile
  std::thread thread_;
};

}  // namespace hodei::server
