// The timers of all modules, at most one for each subject.
//
// Timers are not stored. Modules derive them from their rows when a store has been loaded, and check again what they
// are about when they are due. A timer that is no longer needed is cancelled, so that memory grows with what is under
// way and not with everything that has ever happened.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "src/base/time.h"

namespace hodei::core {

// Timers that are due in the same turn are handled in this order.
enum class TimerKind : uint8_t {
  Backoff,  // a job is queued again
  Pause,    // a worker that did not start what it was sent is tried again
  KeyRate,  // the rate of a concurrency key allows another start
  Timeout,  // an execution is over its timeout
  Sweep,    // every module checks what changes slowly
};
inline constexpr size_t kTimerKinds = 5;

struct Timer {
  TimerKind kind{};
  uint64_t number = 0;  // what it is about, by number or by name
  uint32_t part = 0;
  std::string name = {};

  auto operator<=>(const Timer&) const = default;
};

class Timers {
 public:
  // Of each kind, as many timers are handled in one turn; the others are due at once again.
  static constexpr size_t kMaxDuePerTurn = 4'096;
  // A wall clock that is adjusted by less than this has not jumped.
  static constexpr Duration kJump = std::chrono::milliseconds(100);

  // A timer on the boot-time clock.
  void set(const Timer& timer, MonoTime at);
  // A timer on the wall clock. It is keyed again when that clock jumps.
  void set(const Timer& timer, WallTime at, Now now);
  void cancel(const Timer& timer);

  // Removes the earliest timer of a kind if it is due.
  std::optional<Timer> take_due(TimerKind kind, MonoTime now);
  // Call this before timers are taken: wall-clock timers follow the wall clock.
  void follow_wall_clock(Now now);

  MonoTime next() const;
  size_t size() const;
  size_t size(TimerKind kind) const { return queue(kind).order.size(); }

 private:
  struct Queue {
    absl::btree_map<Timer, MonoTime> at;
    absl::btree_set<std::pair<MonoTime, Timer>> order;
  };
  Queue& queue(TimerKind kind) { return queues_[static_cast<size_t>(kind)]; }
  const Queue& queue(TimerKind kind) const { return queues_[static_cast<size_t>(kind)]; }

  std::array<Queue, kTimerKinds> queues_;
  absl::btree_map<Timer, WallTime> wall_;
  int64_t wall_offset_ = 0;  // wall clock minus boot-time clock, by which the timers of wall_ are keyed
};

}  // namespace hodei::core
