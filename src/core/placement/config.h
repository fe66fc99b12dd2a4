// The scheduler's settings, changeable while running.
#pragma once

#include <cstdint>

namespace hodei::core {

enum class Strategy : uint8_t { Smart = 1, RoundRobin, LeastConnections, ResourcePriority, Affinity };

struct SchedulerConfig {
  Strategy strategy = Strategy::Smart;
  double capacity = 30;     // weights of the five parts of the score
  double load = 25;
  double affinity = 20;
  double zone = 15;
  double history = 10;
  double threshold = 0;     // a worker is kept if its score is above this

  bool operator==(const SchedulerConfig&) const = default;
};

}  // namespace hodei::core
