// Threads of their own for reads of the store and for work on files. The threads of the doors carry the streams of all
// workers: whoever made them wait for a disk would make heartbeats wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace hodei::server {

class ReadPool {
 public:
  struct Limits {
    size_t threads = 4;
    size_t waiting = 256;  // further ones are refused
  };

  // `what` is for people: "reads".
  ReadPool(std::string what, Limits limits) : what_(std::move(what)), limits_(limits) {}
  ~ReadPool() { stop(); }

  void start();
  void stop();  // after all that waits

  // From any thread; never blocks. RESOURCE_EXHAUSTED: too many wait, and `work` will not be called.
  absl::Status post(std::function<void()> work);
  // For streams, of which each has one piece of work under way at most: their number is the limit. Nothing is done once
  // the pool has stopped: the doors are closed before it.
  void post_always(std::function<void()> work);

 private:
  void run();

  const std::string what_;
  const Limits limits_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = true;
  std::vector<std::thread> threads_;
};

}  // namespace hodei::server
