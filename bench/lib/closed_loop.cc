#include "bench/lib/closed_loop.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "bench/lib/clock.h"

namespace hodei::bench {
namespace {

class Driver {
 public:
  explicit Driver(Bound bound) : bound_(bound), began_(mono_ns()) {}

  // Whether one more may begin; it counts as under way then.
  bool begin() {
    if (seconds_since(began_) >= bound_.seconds || begun_.fetch_add(1) >= bound_.most) return false;
    ++under_way_;
    return true;
  }
  void end(bool ok) {
    ++(ok ? succeeded_ : failed_);
    const std::lock_guard lock(mutex_);
    if (--under_way_ == 0) idle_.notify_all();
  }
  Rate wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return under_way_ == 0; });
    return {succeeded_, failed_, seconds_since(began_)};
  }

 private:
  const Bound bound_;
  const int64_t began_;
  std::atomic<int64_t> begun_ = 0;
  std::atomic<int64_t> succeeded_ = 0;
  std::atomic<int64_t> failed_ = 0;
  std::atomic<int64_t> under_way_ = 0;
  std::mutex mutex_;
  std::condition_variable idle_;
};

}  // namespace

Rate closed_loop(int in_flight, Bound bound, const std::function<void(Done)>& start) {
  Driver driver(bound);
  std::function<void()> next = [&] {
    start([&](bool ok) {
      // The next begins before this one ends, so that there is always one under way until the last.
      if (ok && driver.begin()) next();
      driver.end(ok);
    });
  };
  for (int i = 0; i < in_flight && driver.begin(); ++i) next();
  return driver.wait();
}

}  // namespace hodei::bench
