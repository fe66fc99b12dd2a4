// Time is a port: what asks for the time is given a Clock, and tests give one that they move by hand.
//
// Two kinds of time that never mix: wall time for schedules and for people, boot time ("mono") for leases and
// time-outs, which a change of the wall clock must not touch.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace hodei {

using Duration = std::chrono::microseconds;
using namespace std::chrono_literals;

template <class Tag>
struct TimePoint {
  int64_t us = 0;

  auto operator<=>(const TimePoint&) const = default;
  TimePoint operator+(Duration d) const { return {us + d.count()}; }
  TimePoint operator-(Duration d) const { return {us - d.count()}; }
  Duration operator-(TimePoint other) const { return Duration(us - other.us); }
  bool is_set() const { return us != 0; }
};

using WallTime = TimePoint<struct WallTag>;  // microseconds since 1970
using MonoTime = TimePoint<struct MonoTag>;  // microseconds since boot, suspend included

inline constexpr MonoTime kNever{INT64_MAX};

struct Now {
  WallTime wall;
  MonoTime mono;
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now now() const = 0;
};

// The machine's own clocks: CLOCK_REALTIME and CLOCK_BOOTTIME.
class SystemClock final : public Clock {
 public:
  Now now() const override;
};

// 2026-11-15T15:04:05.123Z
std::string format_utc(WallTime t);

}  // namespace hodei
