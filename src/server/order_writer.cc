#include "src/server/order_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hodei::server {

void OrderWriter::start() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(running_, true)) return;
  for (size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { run(); });
}

void OrderWriter::stop() {
  std::vector<std::thread> threads;
  std::deque<std::shared_ptr<OrderStream>> dropped;
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
    threads.swap(threads_);
    dropped.swap(waiting_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void OrderWriter::post(std::shared_ptr<OrderStream> stream) {
  {
    const std::lock_guard lock(mutex_);
    if (!running_) return;
    waiting_.push_back(std::move(stream));
    if (waiting_.size() > 1) return;  // somebody has been woken for the first
  }
  wake_.notify_one();
}

std::vector<std::shared_ptr<OrderStream>> OrderWriter::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return !running_ || !waiting_.empty(); });
  if (!running_) return {};
  const auto count = static_cast<ptrdiff_t>(std::min(waiting_.size(), kStreamsAtOnce));
  std::vector<std::shared_ptr<OrderStream>> out(std::make_move_iterator(waiting_.begin()),
                                                std::make_move_iterator(waiting_.begin() + count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  const bool has_more = !waiting_.empty();
  lock.unlock();
  if (has_more) wake_.notify_one();
  return out;
}

void OrderWriter::run() {
  while (true) {
    const std::vector<std::shared_ptr<OrderStream>> streams = wait();
    if (streams.empty()) return;
    write(streams);
  }
}

void OrderWriter::write(const std::vector<std::shared_ptr<OrderStream>>& streams) {
  std::vector<ToWorker*> messages;
  for (const std::shared_ptr<OrderStream>& stream : streams) {
    const std::vector<ToWorker*> next = stream->take();
    messages.insert(messages.end(), next.begin(), next.end());
  }
  filler_.fill(messages);
  for (const std::shared_ptr<OrderStream>& stream : streams) {
    if (stream->write()) post(stream);
  }
}

}  // namespace hodei::server
