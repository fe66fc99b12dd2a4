// Holds the messages of a source until the transport pulls them. The queue is bounded: if a slow client lets it
// overflow, messages are dropped and counted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace hodei::api {

template <class Item>
class EventQueue {
 public:
  static constexpr size_t kMaxQueued = 1'000;  // messages

  struct Taken {
    int64_t lost = 0;  // messages that were left out before this one
    Item item;
  };

  // Before anything can be pushed.
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  // `messages`: how many the item becomes. From any thread; does not block.
  void push(Item item, size_t messages = 1) {
    {
      const std::lock_guard lock(mutex_);
      if (queued_ > 0 && queued_ + messages > kMaxQueued) {
        lost_ += static_cast<int64_t>(messages);
        return;
      }
      queued_ += messages;
      queue_.push_back({{std::exchange(lost_, 0), std::move(item)}, messages});
      if (queue_.size() > 1) return;  // whoever pulls has been told
    }
    wake_();
  }

  std::optional<Taken> pop() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    Taken out = std::move(queue_.front().first);
    queued_ -= queue_.front().second;
    queue_.pop_front();
    return out;
  }

 private:
  std::function<void()> wake_;
  std::mutex mutex_;  // guards what follows
  std::deque<std::pair<Taken, size_t>> queue_;
  size_t queued_ = 0;
  int64_t lost_ = 0;
};

}  // namespace hodei::api
