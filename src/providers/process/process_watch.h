// Reports the end of processes, from its own thread: those that this server started, and those of an earlier one.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "src/providers/process/process_look.h"

namespace hodei::providers {

class ProcessWatch {
 public:
  using Ended = std::function<void(const std::string& worker_id)>;

  ~ProcessWatch() { stop(); }

  void start(Ended ended);
  // Returns when no call is under way. Not from within one.
  void stop();
  // Nothing happens while it is not started. A process that has already ended is reported too.
  void add(const std::string& worker_id, const ProcessName& process);
  void forget(const std::string& worker_id);

 private:
  void run();
  void wake();

  std::mutex mutex_;  // of what follows, but for the thread
  Ended ended_;
  std::map<std::string, int> watched_;  // a pidfd each
  int wake_ = -1;                       // an eventfd: the list has changed, or the end
  bool running_ = false;
  std::thread thread_;
};

}  // namespace hodei::providers
