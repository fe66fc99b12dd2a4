// Handles Ctrl-C and SIGTERM while a job is followed. The first signal calls a function; the second one exits at once.
// Signals within a moment of the first count as the same one, because timeout(1) signals the process and then its
// group.
#pragma once

#include <functional>
#include <thread>

namespace hodei::cli {

// The signals are blocked in the thread that makes this, and in all threads that are made later: make it before gRPC
// starts its own.
class CtrlC {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

  // `on_first` runs on a thread of its own; `on_leave` is called before the second one leaves.
  void start(std::function<void(int signal)> on_first, std::function<void()> on_leave);

 private:
  void watch(const std::function<void(int)>& on_first, const std::function<void()>& on_leave);

  int signals_ = -1;  // a signalfd
  int stop_ = -1;     // an eventfd
  std::thread watcher_;
  std::thread first_;
};

}  // namespace hodei::cli
