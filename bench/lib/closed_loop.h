// A fixed number of calls under way at once: each that ends begins the next. Bounded in time and in count.
#pragma once

#include <cstdint>
#include <functional>

namespace hodei::bench {

struct Bound {
  double seconds = 3;
  int64_t most = 5'000'000;  // whichever comes first
};

struct Rate {
  int64_t count = 0;
  int64_t failed = 0;
  double seconds = 0;
  double longest_pause = 0;  // seconds in which nothing ended, where that is watched
  double per_second() const { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }
};

using Done = std::function<void(bool ok)>;

// `start(done)` begins one call and has `done` called when it ended, on any thread.
Rate closed_loop(int in_flight, Bound bound, const std::function<void(Done)>& start);

}  // namespace hodei::bench
