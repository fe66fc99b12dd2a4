// A subscription to events that ends once, even if the client disconnects before the subscription has begun.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

namespace hodei::api {

class Watch {
 public:
  // `begin` gives the number of the watch, which is never 0. It is not called once the watch has ended.
  template <class Begin>
  void begin(Begin begin) {
    const std::lock_guard lock(mutex_);
    if (!ended_) number_ = begin();
  }
  // `end` is called with the number, once, if it ever began.
  template <class End>
  void end(End end) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(ended_, true) && number_ != 0) end(number_);
  }

 private:
  std::mutex mutex_;  // guards what follows
  bool ended_ = false;
  uint64_t number_ = 0;
};

}  // namespace hodei::api
