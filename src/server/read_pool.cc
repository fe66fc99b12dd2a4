#include "src/server/read_pool.h"

#include "src/base/status.h"

namespace hodei::server {

void ReadPool::start() {
  const std::lock_guard lock(mutex_);
  if (!stopping_) return;
  stopping_ = false;
  for (size_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { run(); });
}

void ReadPool::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

absl::Status ReadPool::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return absl::UnavailableError("the server is shutting down; try again in a moment");
    if (waiting_.size() >= limits_.waiting) {
      return absl::ResourceExhaustedError(
          cat(limits_.waiting, " ", what_, " are already waiting; try again in a moment, and request less at a time"));
    }
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
  return absl::OkStatus();
}

void ReadPool::post_always(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void ReadPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace hodei::server
