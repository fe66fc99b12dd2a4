// A live job in memory: its head, and where it waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/core/jobs/job.h"

namespace hodei::core {

struct Lane;

struct LiveJob {
  enum class Where : uint8_t { WithWorker, InLane, Parked, Delayed };
  JobPtr head;
  Lane* lane = nullptr;  // while InLane or Parked
  Where where = Where::WithWorker;
  size_t bytes = 0;  // of the footprint, without what it shares
};

}  // namespace hodei::core
