#include "src/worker/supervisor/supervisor_events.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hodei::worker {
namespace {

constexpr size_t kEventsAtOnce = 128;

void take_count(int fd) {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd, &count, sizeof(count));
}

}  // namespace

absl::Status SupervisorEvents::open() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int each : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&wanted, each);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  signals_ = Fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = Fd(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  output_ready_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  room_made_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const Fd* fd : {&epoll_, &signals_, &timer_, &output_ready_, &room_made_}) {
    if (!fd->is_open()) return absl::ErrnoToStatus(errno, "opening the supervisor's descriptors");
  }
  listen(signals_.get(), kSignals);
  listen(timer_.get(), kTimer);
  listen(room_made_.get(), kRoom);
  events_.resize(kEventsAtOnce);
  return absl::OkStatus();
}

void SupervisorEvents::listen(int fd, Key key) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void SupervisorEvents::listen_to_room(int fd, Key key, bool wanted) const {
  epoll_event event{};
  event.events = EPOLLIN | (wanted ? static_cast<uint32_t>(EPOLLOUT) : 0);
  event.data.u64 = key;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

std::span<const epoll_event> SupervisorEvents::wait(int timeout_ms) {
  const int count = epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout_ms);
  return {events_.data(), static_cast<size_t>(std::max(count, 0))};
}

std::vector<signalfd_siginfo> SupervisorEvents::signals() const {
  std::vector<signalfd_siginfo> all;
  signalfd_siginfo info[16];
  ssize_t got = 0;
  while ((got = read(signals_.get(), info, sizeof(info))) > 0) {
    all.insert(all.end(), info, info + static_cast<size_t>(got) / sizeof(info[0]));
  }
  return all;
}

void SupervisorEvents::set_timer(MonoTime next) {
  if (next == timer_set_) return;
  timer_set_ = next;
  itimerspec when{};
  if (next != kNever) {
    const int64_t us = std::max<int64_t>(next.us, 1);  // 0 would switch it off
    when.it_value = {.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void SupervisorEvents::timer_rang() {
  take_count(timer_.get());
  timer_set_ = kNever;
}

void SupervisorEvents::tell_output() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(output_ready_.get(), &one, sizeof(one));
}

void SupervisorEvents::take_room() const { take_count(room_made_.get()); }

}  // namespace hodei::worker
