// The way of output to the disk: what waits in the inbox becomes one append with one sync, and only then
// acknowledgements and news for those who watch. Nothing here waits or has a thread: LogHub's thread calls step(), and
// so does the simulator.
#pragma once

#include <atomic>
#include <memory>

#include "src/server/logs/live_logs.h"
#include "src/server/logs/log_inbox.h"

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

class LogWriter {
 public:
  LogWriter(store::NumberedLogStore& store, std::shared_ptr<LiveLogs> live, const Clock& clock, const Clock& retention,
            const LogHubLimits& limits)
      : store_(store),
        live_(std::move(live)),
        clock_(clock),
        retention_(retention),
        limits_(limits),
        inbox_(limits.inbox_bytes) {}

  // From any thread.
  LogInbox& inbox() { return inbox_; }
  bool is_stuck() const { return is_stuck_; }
  void add_to(LogHubStats& stats) const;

  // One thread at a time. A group that cannot be written is kept and tried again at every tick: workers are held back
  // meanwhile, and go on by themselves when there is room on the disk again.
  void step();
  // Whether step() has something to do without a tick.
  bool wants_step() const { return takes_items() && inbox_.has_items(); }
  // Whether step() would take what comes in.
  bool takes_items() const { return group_.items.empty(); }

 private:
  // A group on its way to the disk.
  struct Group {
    std::vector<InboxItem> items;              // without their pieces once these are prepared
    std::vector<store::LogPiece> pieces;       // what is new
    std::vector<int64_t> first_lines, begins;  // of each piece
    std::vector<std::pair<std::shared_ptr<LogSource>, LogAck>> acks;
    size_t inbox_bytes = 0;
  };
  struct Counts {
    std::atomic<int64_t> pieces = 0;
    std::atomic<int64_t> lines = 0;
    std::atomic<int64_t> bytes = 0;
    std::atomic<int64_t> appends = 0;
    std::atomic<int64_t> failed = 0;
    std::atomic<int64_t> after_end = 0;
  };

  void prepare(Group& group);
  bool write(Group& group);
  void note_stuck(const absl::Status& written);
  void tell(Group group);
  void expire_if_due();
  store::LogTail tail_of(ExecutionId execution) const;

  store::NumberedLogStore& store_;
  const std::shared_ptr<LiveLogs> live_;
  const Clock& clock_;
  const Clock& retention_;
  const LogHubLimits limits_;
  LogInbox inbox_;
  Group group_;
  MonoTime next_expire_;
  Counts counts_;
  std::atomic<bool> is_stuck_ = false;  // what has come cannot be written: nothing is lost or late meanwhile
};

}  // namespace hodei::server
