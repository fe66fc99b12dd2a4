// A permanent thread that measures running executions: the disk space of folders with a quota, the usage when somebody
// asks for it, and the peak memory of executions without a resource group. This is too slow for the supervisor's loop.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "src/base/time.h"
#include "src/worker/limits/live_usage.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

class ExecutionWatch {
 public:
  static constexpr Duration kQuotaInterval = 1s;  // longer when the walks take more than a tenth of it

  // The memory of one that is followed is looked at this long after its start, then at growing intervals.
  static constexpr Duration kFirstLook = 50ms;
  static constexpr Duration kLongestPause = 30s;

  explicit ExecutionWatch(const Clock& clock) : clock_(clock) {}
  ~ExecutionWatch() { stop(); }

  absl::Status start();
  void stop();

  void guard(ExecutionId execution, std::string folder, int64_t most_bytes);
  void unguard(ExecutionId execution);
  void follow(RunningTree tree);
  int64_t unfollow(ExecutionId execution);       // the most memory of one of its processes, in KiB; 0: nobody looked
  void measure(std::vector<RunningTree> trees);  // replaces an order that was not begun

  int ready_fd() const { return ready_.get(); }  // readable when there is something to take
  struct OverQuota {
    ExecutionId execution;
    int64_t bytes = 0;
    int64_t most_bytes = 0;
  };
  struct Seen {
    std::vector<OverQuota> over;  // each is reported once
    std::optional<std::vector<LiveUsage>> usage;
  };
  Seen take();

 private:
  struct Guarded {
    std::string folder;
    int64_t most_bytes = 0;
  };
  struct Followed {
    RunningTree tree;
    MonoTime next;
    Duration pause = kFirstLook;
    int64_t most_kb = 0;
  };
  void run();
  void wait(std::unique_lock<std::mutex>& lock, MonoTime next_look);
  MonoTime next_sample() const;
  void sample(std::unique_lock<std::mutex>& lock);
  Duration look_at_folders(std::unique_lock<std::mutex>& lock);  // how long it took

  const Clock& clock_;
  Fd ready_;
  std::thread thread_;
  std::mutex mutex_;  // guards all below
  std::map<ExecutionId, Guarded> guarded_;
  std::map<ExecutionId, Followed> followed_;
  bool is_idle_ = false;  // it waits for something to do, without a time
  std::optional<std::vector<RunningTree>> to_measure_;
  Seen seen_;
  bool stopping_ = false;
  std::condition_variable wake_;
};

}  // namespace hodei::worker
