// Virtual time and chance. Everything that happens in a simulation is an event of this world, so a seed replays
// exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/base/time.h"

namespace hodei::sim {

class World final : public Clock {
 public:
  World(uint64_t seed, bool trace) : random_(mix64(seed)), trace_(trace) {}

  Now now() const override {
    return {{kWallStart + elapsed_.count() + wall_jump_.count()}, {kMonoStart + elapsed_.count()}};
  }
  Duration elapsed() const { return elapsed_; }

  void after(Duration wait, std::function<void()> event) { events_[{elapsed_ + wait, next_++}] = std::move(event); }
  // Runs the next event unless it lies beyond `end`. An event may itself call this to let time pass while it waits.
  bool step(Duration end);

  void jump_wall_clock(Duration by) {
    wall_jump_ += by;
    ++wall_jumps_;
  }
  // How often the wall clock was set: what is stored as wall time means something only while this stays the same.
  uint64_t wall_jumps() const { return wall_jumps_; }

  uint64_t random() { return random_ = mix64(random_); }
  uint64_t below(uint64_t n) { return random() % n; }
  bool chance(double p) { return static_cast<double>(random() >> 11) < p * static_cast<double>(uint64_t{1} << 53); }
  Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<int64_t>(below(static_cast<uint64_t>((high - low).count()) + 1)));
  }

  template <class... Parts>
  void trace(const Parts&... parts) {
    if (trace_) print(cat(parts...));
  }

  // A broken promise: remembered, and the run ends.
  void broken(std::string what);
  bool ok() const { return failure_.empty(); }
  const std::string& failure() const { return failure_; }

 private:
  static constexpr int64_t kWallStart = int64_t{1'800'000'000} * 1'000'000;
  static constexpr int64_t kMonoStart = int64_t{1'000} * 1'000'000;
  void print(const std::string& line) const;

  uint64_t random_;
  bool trace_;
  Duration elapsed_{0};
  Duration wall_jump_{0};
  uint64_t wall_jumps_ = 0;
  uint64_t next_ = 0;
  uint64_t at_once_ = 0;  // events at this instant so far
  std::map<std::pair<Duration, uint64_t>, std::function<void()>> events_;
  std::string failure_;
};

}  // namespace hodei::sim
