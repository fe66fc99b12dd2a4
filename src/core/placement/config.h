// The scheduler's settings. They can be changed at run time.
#pragma once

#include <cstdint>

#include "src/base/time.h"

namespace hodei::core {

enum class Strategy : uint8_t { Smart = 1, RoundRobin, LeastConnections, ResourcePriority, Affinity };
enum class Packing : uint8_t { Spread = 1, Pack };

struct SchedulerConfig {
  Strategy strategy = Strategy::Smart;
  double capacity = 30;  // this and the next four: weights of the parts of the score
  double load = 25;
  double affinity = 20;
  double zone = 15;
  double history = 10;
  double threshold = 0;  // a worker must score more than this
  Packing packing = Packing::Spread;
  bool preemption = false;       // a job that fits nowhere may preempt jobs of lower priority
  Duration reserve_after = 30s;  // reserve a worker for a job that waits longer; 0: never

  bool operator==(const SchedulerConfig&) const = default;
};

inline constexpr double kMaxScoreWeight = 1000;  // also the largest threshold
inline constexpr Duration kMaxReserveAfter = std::chrono::hours(24);

}  // namespace hodei::core
