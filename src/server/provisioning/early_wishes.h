// What the engine wished before the providers were known. It is kept until they are.
#pragma once

#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "src/core/effects.h"

namespace hodei::server {

class EarlyWishes {
 public:
  using Wish = std::variant<core::CreateWorker, core::DestroyWorker>;
  static constexpr size_t kMost = 100'000;

  // False: the providers are known, and the wish can be granted.
  bool keep(const Wish& wish) {
    const std::lock_guard lock(mutex_);
    if (is_over_) return false;
    if (wishes_.size() < kMost) wishes_.push_back(wish);
    return true;
  }
  // The providers are known: nothing is kept any more.
  std::vector<Wish> release() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    return std::exchange(wishes_, {});
  }

 private:
  std::mutex mutex_;  // guards what follows
  bool is_over_ = false;
  std::vector<Wish> wishes_;
};

}  // namespace hodei::server
