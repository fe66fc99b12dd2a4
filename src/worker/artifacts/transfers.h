// The threads that transfer artifacts, so that the agent's loop never waits for a network or a disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/worker/artifacts/carry.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

inline constexpr size_t kTransferThreads = 4;

class Transfers {
 public:
  struct Load {
    ExecutionId execution;
    std::string folder;
    std::vector<ArtifactOrder> artifacts;
    bool files_allowed = true;
  };
  struct Done {
    ExecutionId execution;
    absl::Status result;
  };

  Transfers();
  ~Transfers() { stop(); }
  void start();
  void stop();  // ends what is under way

  // From the next load on.
  void set_server(ServerStore store);

  // One at a time for an execution. Each is answered by one Done, unless it is dropped before.
  void fetch(Load load);  // makes the folder first
  void send(Load load);
  void drop(ExecutionId execution);
  // Removes a folder, after whatever is under way there.
  void remove(ExecutionId execution, std::string folder);

  int ready_fd() const { return ready_.get(); }
  std::vector<Done> take();

 private:
  enum class Kind : uint8_t { Fetch, Send, Remove };
  struct Task {
    Kind kind;
    Load load;
    std::stop_source stop;
    bool dropped = false;
    bool remove_after = false;
  };
  void add(std::shared_ptr<Task> task);
  void run();
  absl::Status carry_out(const Task& task, const ServerStore& store);
  void finished(const std::shared_ptr<Task>& task, absl::Status result);

  Fd ready_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards what follows
  std::deque<std::shared_ptr<Task>> waiting_;
  std::map<ExecutionId, std::shared_ptr<Task>> current_;  // waiting or under way; not removals
  std::vector<Done> done_;
  ServerStore store_;
  bool stopping_ = false;
  std::condition_variable wake_;
};

}  // namespace hodei::worker
