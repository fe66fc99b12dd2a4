// What runs at this moment, written down where a successor finds it: a file in the state folder with a record for each
// execution, in memory that the kernel keeps when the supervisor is killed. Not written through to the disk: what ends
// the machine ends all processes too.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::worker {

// Times are in ticks since the machine's start, as /proc tells when a process was started.
struct LedgerRecord {
  // Of the main process, which is its own group and session. Written by the process itself before it becomes the
  // program; 0: there is none.
  std::atomic<pid_t> main = 0;
  int32_t unused = 0;
  int64_t not_before = 0;  // it was started between these two; the second is 0 until that is over
  int64_t not_after = 0;
  uint64_t out = 0;  // the numbers of its pipes
  uint64_t err = 0;
};
static_assert(std::atomic<pid_t>::is_always_lock_free && sizeof(LedgerRecord) == 40);

// One record as a successor reads it.
struct Leftover {
  pid_t main = 0;
  int64_t not_before = 0;
  int64_t not_after = 0;
  uint64_t out = 0;
  uint64_t err = 0;
};

struct Leftovers {
  std::vector<Leftover> executions;
  int64_t last_sign = 0;     // the last turn of the supervisor that wrote them
  bool is_complete = false;  // false: there is no such file, or there were more than it has room for
};

// On the supervisor's loop, except for what a record says, which the thread that starts the execution writes.
class ExecutionLedger {
 public:
  // Takes the place of the one that an earlier supervisor left at `path`, which has been read by then. `mark`: that of
  // the worker; who has another is not its successor.
  static absl::StatusOr<ExecutionLedger> make(const std::string& path, const std::string& mark, size_t room);
  static Leftovers read(const std::string& path, const std::string& mark);

  ExecutionLedger(ExecutionLedger&& other) noexcept;
  ExecutionLedger& operator=(ExecutionLedger&&) = delete;
  ~ExecutionLedger();

  LedgerRecord* take();  // nullptr: no room; the next supervisor sees that
  void give_back(LedgerRecord* record);
  void alive(MonoTime now);  // at each turn

 private:
  explicit ExecutionLedger(void* memory, size_t bytes, size_t room);

  void* memory_;
  size_t bytes_;
  std::vector<LedgerRecord*> free_;
};

// Around the start of a process.
void begin_record(LedgerRecord& record, int out, int err);
void end_record(LedgerRecord& record);

struct LeftoversKilled {
  int processes = 0;
  // Some executions of which nothing is left but processes that may be a stranger's: their session's number may have
  // been given away since. They are not touched.
  bool unclear = false;
};

// Kills the main processes, what is in their sessions and groups, what holds their pipes, and all descendants of these.
LeftoversKilled kill_recorded(const Leftovers& leftovers);

}  // namespace hodei::worker
