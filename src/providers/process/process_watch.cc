#include "src/providers/process/process_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace hodei::providers {

void ProcessWatch::start(Ended ended) {
  stop();
  const std::scoped_lock lock(mutex_);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return;  // out of files: the caller asks from time to time anyway
  ended_ = std::move(ended);
  running_ = true;
  thread_ = std::thread([this] { run(); });
}

void ProcessWatch::stop() {
  {
    const std::scoped_lock lock(mutex_);
    running_ = false;
    wake();
  }
  if (thread_.joinable()) thread_.join();
  const std::scoped_lock lock(mutex_);
  for (const auto& [worker_id, fd] : watched_) close(fd);
  watched_.clear();
  if (wake_ >= 0) close(wake_);
  wake_ = -1;
}

void ProcessWatch::wake() {
  const uint64_t one = 1;
  if (wake_ >= 0) [[maybe_unused]]
    const ssize_t put = write(wake_, &one, sizeof(one));
}

void ProcessWatch::add(const std::string& worker_id, const ProcessName& process) {
  const std::scoped_lock lock(mutex_);
  if (!running_ || watched_.contains(worker_id)) return;
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (fd < 0) return;
  if (name_of(process.pid) != process) {  // given to another meanwhile
    close(fd);
    return;
  }
  watched_[worker_id] = fd;
  wake();
}

void ProcessWatch::forget(const std::string& worker_id) {
  const std::scoped_lock lock(mutex_);
  const auto found = watched_.find(worker_id);
  if (found == watched_.end()) return;
  close(found->second);
  watched_.erase(found);
  wake();
}

void ProcessWatch::run() {
  std::unique_lock lock(mutex_);
  while (running_) {
    std::vector<pollfd> files = {{.fd = wake_, .events = POLLIN, .revents = 0}};
    for (const auto& [worker_id, fd] : watched_) files.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    lock.unlock();
    poll(files.data(), files.size(), -1);
    lock.lock();
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof(count));
    // The list may have changed, and a number in it may be another file now: each is asked again.
    std::vector<std::string> over;
    for (const auto& [worker_id, fd] : watched_) {
      pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
      if (poll(&one, 1, 0) == 1) over.push_back(worker_id);
    }
    for (const std::string& worker_id : over) {
      close(watched_[worker_id]);
      watched_.erase(worker_id);
    }
    const Ended ended = ended_;
    const bool tell = running_;
    lock.unlock();
    for (const std::string& worker_id : over) {
      if (tell) ended(worker_id);
    }
    lock.lock();
  }
}

}  // namespace hodei::providers
