#include "src/cli/terminal/ctrl_c.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "src/base/time.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

constexpr Duration kSameMoment = 300ms;

}  // namespace

CtrlC::CtrlC() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
}

CtrlC::~CtrlC() {
  ::eventfd_write(stop_, 1);
  if (watcher_.joinable()) watcher_.join();
  if (first_.joinable()) first_.join();
  ::close(signals_);
  ::close(stop_);
}

void CtrlC::start(std::function<void(int)> on_first, std::function<void()> on_leave) {
  watcher_ = std::thread(
      [this, on_first = std::move(on_first), on_leave = std::move(on_leave)] { watch(on_first, on_leave); });
}

void CtrlC::watch(const std::function<void(int)>& on_first, const std::function<void()>& on_leave) {
  const SystemClock clock;
  MonoTime first_at;
  pollfd fds[] = {{signals_, POLLIN, 0}, {stop_, POLLIN, 0}};
  while (true) {
    ::poll(fds, 2, -1);
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    const MonoTime now = clock.now().mono;
    if (!first_.joinable()) {
      first_at = now;
      first_ = std::thread(on_first, static_cast<int>(info.ssi_signo));
    } else if (now - first_at > kSameMoment) {
      // Nothing is waited for: the person has said twice that they want to leave.
      on_leave();
      ::_exit(kCancelled);
    }
  }
}

}  // namespace hodei::cli
