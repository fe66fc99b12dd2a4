// Permanent threads that start processes and remove folders, so that the supervisor's loop does not wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/worker/supervisor/spawn.h"
#include "src/worker/supervisor/work_folder.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

// Where one execution lives while it runs.
struct Place {
  std::unique_ptr<Enclosure> enclosure;
  std::unique_ptr<WorkFolder> folder;
  std::unique_ptr<ResourceGroup> group;  // of those that serve executions with limits
  LedgerRecord* record = nullptr;        // while it is taken
};

struct SpawnOrder {
  uint64_t number = 0;  // grows with every order
  ExecutionId execution;
  Program program;
  Place* place = nullptr;  // stays with the caller
  int64_t data_limit = 0;  // where no cgroup limits the memory
};

struct SpawnDone {
  uint64_t number = 0;
  ExecutionId execution;
  SpawnResult result;
};

class SpawnPool {
 public:
  SpawnPool(size_t threads, std::string mark);
  ~SpawnPool() { stop(); }

  absl::Status start();
  void stop();  // waits for what is in hand; orders that wait are dropped

  void submit(SpawnOrder order);
  void clean(std::unique_ptr<Place> place);

  int ready_fd() const { return ready_.get(); }  // readable when there is something to take
  struct Finished {
    std::vector<SpawnDone> spawned;
    std::vector<std::unique_ptr<Place>> cleaned;  // those that could not be cleaned are not among them
  };
  Finished take();

 private:
  using Task = std::variant<SpawnOrder, std::unique_ptr<Place>>;
  void run();
  void carry_out(Task task);
  template <class Add>
  void announce(const Add& add);  // adds to finished_ and wakes the loop if that is needed

  const size_t thread_count_;
  const std::string mark_;
  const InheritedEnvironment inherited_;
  Fd ready_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards the three below
  std::deque<Task> tasks_;
  Finished finished_;
  bool stopping_ = false;
  std::condition_variable wake_;
};

}  // namespace hodei::worker
