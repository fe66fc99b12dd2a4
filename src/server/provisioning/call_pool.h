// A few threads that make blocking calls to one provider, so that nobody else waits for it.
//
// A thread that hangs in a call cannot be ended. After stop() it is left to itself, and its task must keep alive
// whatever it needs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/base/time.h"

namespace hodei::server {

class CallPool {
 public:
  using Task = std::function<void()>;

  // Threads are started when there is work for them.
  CallPool(size_t most_threads, size_t most_waiting);
  ~CallPool() { stop(Duration(0)); }

  // False: too many wait already, or it was stopped.
  bool add(Task task);

  // Forgets what waits, gives what is under way so long to end. False: something still hangs, and was left behind.
  bool stop(Duration patience);

 private:
  // Outlives the pool as long as one of its threads does.
  struct Shared {
    std::mutex mutex;
    std::condition_variable wake, ended;
    std::deque<Task> waiting;
    size_t threads = 0, idle = 0;
    bool stopping = false;
  };
  static void work(const std::shared_ptr<Shared>& shared);

  const size_t most_threads_, most_waiting_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace hodei::server
