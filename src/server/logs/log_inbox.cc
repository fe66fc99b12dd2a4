#include "src/server/logs/log_inbox.h"

namespace hodei::server {
namespace {

size_t bytes_of(const store::LogPiece& piece) {
  return sizeof(InboxItem) + piece.data.size() + piece.lines.size() * sizeof(store::LogLine);
}

}  // namespace

bool LogInbox::offer(const std::shared_ptr<LogSource>& source, std::vector<store::LogPiece>& pieces) {
  size_t sum = 0;
  for (const store::LogPiece& piece : pieces) sum += bytes_of(piece);
  {
    const std::lock_guard lock(mutex_);
    // Something larger than the whole inbox goes alone, or it would wait for ever.
    if (bytes_ > 0 && bytes_ + sum > max_bytes_) {
      held_back_.push_back({source, sum});
      return false;
    }
    bytes_ += sum;
    for (store::LogPiece& piece : pieces) {
      const size_t bytes = bytes_of(piece);
      items_.push_back({source, std::move(piece), bytes});
    }
  }
  pieces.clear();
  changed_.notify_one();
  return true;
}

void LogInbox::end_log(ExecutionId execution) {
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({.piece = {.execution = execution, .lost = store::kLostUnknown, .end = true}});
  }
  changed_.notify_one();
}

void LogInbox::tick() {
  {
    const std::lock_guard lock(mutex_);
    ticked_ = true;
  }
  changed_.notify_one();
}

void LogInbox::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

bool LogInbox::wait(bool for_items) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || ticked_ || (for_items && !items_.empty()); });
  return !stopping_;
}

LogInbox::Wake LogInbox::take(bool take_items, size_t max_bytes) {
  const std::lock_guard lock(mutex_);
  Wake out{.ticked = std::exchange(ticked_, false)};
  size_t sum = 0;
  while (take_items && !items_.empty() && (out.items.empty() || sum + items_.front().bytes <= max_bytes)) {
    sum += items_.front().bytes;
    out.items.push_back(std::move(items_.front()));
    items_.pop_front();
  }
  return out;
}

std::vector<std::shared_ptr<LogSource>> LogInbox::release(size_t bytes) {
  std::vector<std::shared_ptr<LogSource>> out;
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
  // First come, first served, and only as many as will find room.
  for (size_t promised = bytes_; !held_back_.empty(); held_back_.pop_front()) {
    if (promised > 0 && promised + held_back_.front().bytes > max_bytes_) break;
    promised += held_back_.front().bytes;
    out.push_back(std::move(held_back_.front().source));
  }
  return out;
}

bool LogInbox::has_items() const {
  const std::lock_guard lock(mutex_);
  return !items_.empty();
}

size_t LogInbox::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace hodei::server
