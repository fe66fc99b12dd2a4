// What the hub knows in memory about jobs that print now or are being watched: how far their logs are durable, their
// newest output, whether they have finished, and who waits for more. One value with its mutex; nothing is called and no
// file is touched while it is held.
//
// No wake-up is lost: whoever wants to wait names the version of the job that it has seen. Everything that could end
// the wait (output, the job's end, giving up) makes a new version first, after it is visible in the store.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "src/server/logs/live_buffer.h"
#include "src/server/logs/log_types.h"

namespace hodei::server {

// Somebody who can be told that there may be more.
class LogWaiter {
 public:
  virtual ~LogWaiter() = default;
  virtual void wake() = 0;
};
using Waiters = std::vector<std::weak_ptr<LogWaiter>>;
// Outside of every lock.
void wake_all(const Waiters& waiters);

// One look at a job, from the place of one reader.
struct Glimpse {
  uint64_t version = 0;
  std::shared_ptr<const LivePiece> piece;  // what the reader needs next, if it is in memory
  std::optional<store::LogTail> tail;      // of the reader's execution; nothing: ask the store
  std::optional<uint32_t> next_execution;  // the first live one behind the reader's
  std::optional<int64_t> printed;          // how much the reader's execution has in all, once that is known
  uint32_t silent_until = 0;               // executions behind the reader's, up to this one, printed nothing
  std::optional<Printed> next_printed;     // the first ended one behind the reader's that printed something
  bool finished = false;
  uint32_t last_execution = 0;
  bool gave_up = false;  // finished long ago: what is not here will not come
  bool late = false;     // of `next_printed`, what has not begun to come will not
  bool cleared = false;  // somebody deleted it
  bool stopped = false;
};

class LiveLogs {
 public:
  explicit LiveLogs(const LogHubLimits& limits) : limits_(limits) {}

  // The hub's thread: durable pieces, in order. Returns whom to wake.
  Waiters publish(std::vector<std::shared_ptr<const LivePiece>> pieces);
  std::optional<store::LogTail> tail(ExecutionId execution) const;

  // Both ignored for a job that nobody watches and that has no live output: whoever comes later asks the store.
  // Output of these may begin to come until a while (end_grace) after their end.
  Waiters printed(JobId job, const std::vector<Printed>& executions, Now now);
  Waiters finish(JobId job, uint32_t last_execution, MonoTime give_up_at, MonoTime now);
  Waiters give_up(MonoTime now);
  Waiters forget(JobId job);
  Waiters stop();

  // A job that is watched is remembered from enter() to leave().
  void enter(JobId job);
  void leave(JobId job);
  Glimpse look(JobId job, uint32_t execution, int64_t offset) const;
  // False: there is a newer version, look again. A waiter is woken once.
  bool wait(JobId job, uint64_t version, std::weak_ptr<LogWaiter> waiter);

  size_t buffered_bytes() const;
  size_t subscribers() const;

 private:
  // The log of an execution that has ended.
  struct EndedLog {
    int64_t bytes = 0;
    MonoTime late_at;  // set once: whatever later executions do, nobody waits longer for this one
  };
  struct Job {
    uint64_t version = 1;
    std::map<uint32_t, store::LogTail> tails;
    std::map<uint32_t, EndedLog> printed;
    LiveBuffer buffer;
    std::list<JobId>::iterator recency;      // valid while the buffer has something
    std::optional<uint32_t> last_execution;  // set: finished
    MonoTime give_up_at = kNever;
    bool gave_up = false;
    MonoTime looked_at{0};  // by give_up(): what was late by then is late
    bool cleared = false;
    size_t subscribers = 0;
    Waiters waiters;
  };
  using Jobs = absl::flat_hash_map<JobId, std::unique_ptr<Job>>;

  Job& job(JobId id);
  void buffer(JobId id, Job& job, std::shared_ptr<const LivePiece> piece);
  void drop_buffer(Job& job);
  static bool has_ended(const Job& job, uint32_t execution, const store::LogTail& tail);
  static void change(Job& job, Waiters& to_wake);
  void erase_if_idle(JobId id);

  const LogHubLimits limits_;
  mutable std::mutex mutex_;
  Jobs jobs_;
  std::list<JobId> by_recency_;  // jobs with a buffer, the longest silent first
  size_t buffered_bytes_ = 0;
  bool stopped_ = false;
};

}  // namespace hodei::server
