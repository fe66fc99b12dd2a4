// Those who want to know when something about one input has changed. Used by many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace hodei::server {

class InputListeners {
 public:
  uint64_t add(std::function<void()> news) {
    const std::lock_guard lock(mutex_);
    listeners_[next_] = std::move(news);
    return next_++;
  }
  // True: nobody is left.
  bool remove(uint64_t listener) {
    const std::lock_guard lock(mutex_);
    listeners_.erase(listener);
    return listeners_.empty();
  }
  // Calls all of them, with no lock held.
  void tell() const {
    std::map<uint64_t, std::function<void()>> listeners;
    {
      const std::lock_guard lock(mutex_);
      listeners = listeners_;
    }
    for (const auto& [id, news] : listeners) news();
  }

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::map<uint64_t, std::function<void()>> listeners_;
  uint64_t next_ = 1;
};

}  // namespace hodei::server
