#include "src/main/process_signals.h"

#include <csignal>
#include <ctime>

namespace hodei {
namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool StopSignals::wait(Duration time) {
  const sigset_t set = stop_set();
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(time.count() / 1'000'000);
  limit.tv_nsec = static_cast<long>(time.count() % 1'000'000 * 1'000);
  return sigtimedwait(&set, nullptr, &limit) > 0;
}

}  // namespace hodei
