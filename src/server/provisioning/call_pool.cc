#include "src/server/provisioning/call_pool.h"

namespace hodei::server {

CallPool::CallPool(size_t most_threads, size_t most_waiting)
    : most_threads_(most_threads), most_waiting_(most_waiting) {}

bool CallPool::add(Task task) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->stopping || shared_->waiting.size() >= most_waiting_) return false;
  shared_->waiting.push_back(std::move(task));
  if (shared_->idle < shared_->waiting.size() && shared_->threads < most_threads_) {
    ++shared_->threads;
    // Counted, not joined: a thread that hangs in a call must not hold up the end of the server.
    std::thread([shared = shared_] { work(shared); }).detach();
  }
  shared_->wake.notify_one();
  return true;
}

void CallPool::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    ++shared->idle;
    shared->wake.wait(lock, [&] { return shared->stopping || !shared->waiting.empty(); });
    --shared->idle;
    if (shared->stopping) break;
    Task task = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it kept alive must not wait for the next one
    lock.lock();
  }
  --shared->threads;
  shared->ended.notify_all();
}

bool CallPool::stop(Duration patience) {
  std::deque<Task> forgotten;
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  forgotten.swap(shared_->waiting);
  shared_->wake.notify_all();
  const bool all = shared_->ended.wait_for(lock, patience, [this] { return shared_->threads == 0; });
  lock.unlock();
  return all;
}

}  // namespace hodei::server
