#include "src/worker/supervisor/input_feeder.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "src/base/text.h"

namespace hodei::worker {
namespace {

// The agent gets an acknowledgement after so many bytes, or when everything has been written.
constexpr int64_t kWorthTelling = kInputWindow / 4;

}  // namespace

void InputFeeder::open(Fd pipe) {
  pipe_ = std::move(pipe);
  feed();
}

void InputFeeder::watch(int epoll, uint64_t key) {
  watch_.epoll = epoll;
  watch_.key = key;
  arm(!waiting_.empty());
}

void InputFeeder::add(int64_t offset, std::string_view data, bool end) {
  if (ends_ || offset > received_) return;
  data.remove_prefix(std::min(data.size(), static_cast<size_t>(received_ - offset)));
  const auto bytes = static_cast<int64_t>(data.size());
  if (static_cast<int64_t>(waiting_.size()) + bytes > kInputWindow) return;
  received_ += bytes;
  ends_ = end;
  if (!closed_) waiting_ += data;
  feed();
}

void InputFeeder::break_off() {
  broken_ = !closed_;
  given_when_broken_ = given();
  if (pipe_.is_open()) {
    const std::string path = cat("/proc/self/fd/", pipe_.get());
    witness_ = Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  } else if (received_ > 0) {
    given_when_broken_ = received_;  // it has not started, and begins without what had come
  }
  waiting_.clear();
  ends_ = true;
  close_pipe();
}

bool InputFeeder::is_half_read() const {
  if (!broken_) return false;
  int unread = 0;
  if (witness_.is_open()) ioctl(witness_.get(), FIONREAD, &unread);
  return given_when_broken_ - unread > 0;
}

void InputFeeder::feed() {
  while (pipe_.is_open() && !waiting_.empty()) {
    const ssize_t wrote = write(pipe_.get(), waiting_.data(), waiting_.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) return arm(true);
    if (wrote < 0) {
      // Nobody has the reading end any more.
      closed_ = true;
      waiting_.clear();
      return close_pipe();
    }
    waiting_.erase(0, static_cast<size_t>(wrote));
  }
  arm(false);
  if (ends_ && waiting_.empty()) close_pipe();
}

bool InputFeeder::take_news() {
  const bool closed_now = closed_ && !std::exchange(told_closed_, true);
  const bool much = given() - told_ >= kWorthTelling || (waiting_.empty() && given() > told_);
  if (!closed_now && !much) return false;
  told_ = given();
  return true;
}

void InputFeeder::arm(bool wanted) {
  if (watch_.epoll < 0 || !pipe_.is_open() || wanted == watch_.armed) return;
  epoll_event event{};
  event.events = EPOLLOUT;
  event.data.u64 = watch_.key;
  epoll_ctl(watch_.epoll, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, pipe_.get(), &event);
  watch_.armed = wanted;
}

void InputFeeder::close_pipe() {
  arm(false);
  pipe_.reset();
}

}  // namespace hodei::worker
