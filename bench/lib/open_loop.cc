#include "bench/lib/open_loop.h"

#include <sys/prctl.h>

#include "bench/lib/clock.h"
#include "bench/lib/live_jobs.h"

namespace hodei::bench {
namespace {

constexpr int64_t kIdleGapNs = 5'000'000;
constexpr double kMostWait = 30;  // seconds for one job

}  // namespace

void open_loop(double per_second, Bound bound, const std::atomic<int64_t>& ended,
               const std::function<void(Done)>& start) {
  prctl(PR_SET_TIMERSLACK, 1);  // wake up on time
  std::atomic<int64_t> answered = 0;
  const int64_t began = mono_ns();
  int64_t begun = 0;
  for (; begun < bound.most && seconds_since(began) < bound.seconds; ++begun) {
    if (per_second > 0) {
      pause_until_ns(began + static_cast<int64_t>(1e9 * static_cast<double>(begun) / per_second));
    } else {
      const int64_t waiting = mono_ns();
      while (ended < begun) {
        pause_ns(100'000);
        if (seconds_since(waiting) > kMostWait) give_up("a job does not end");
      }
      pause_ns(kIdleGapNs);
    }
    start([&answered](bool ok) {
      if (!ok) give_up("a submission was refused");
      ++answered;
    });
  }
  while (answered < begun) pause_ns(1'000'000);
}

}  // namespace hodei::bench
