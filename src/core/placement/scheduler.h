// The settings of the scheduler, which people may change at any time.
#pragma once

#include <cstdint>

#include "src/core/audit/audit.h"
#include "src/core/placement/config.h"
#include "src/core/placement/rows.h"
#include "src/core/routing.h"

namespace hodei::core {

class Placer;
class RoomMaker;

class Scheduler {
 public:
  Scheduler(Placer& placer, RoomMaker& room_maker, Audit& audit)
      : placer_(placer), room_maker_(room_maker), audit_(audit) {}

  Answer decide(const ConfigureScheduler& c, Turn& turn);

  const SchedulerConfig& config() const { return config_; }

  void fold(const PutScheduler& write) { config_ = write.config; }
  uint64_t digest() const;

 private:
  Placer& placer_;
  RoomMaker& room_maker_;
  Audit& audit_;
  SchedulerConfig config_;
};

}  // namespace hodei::core
