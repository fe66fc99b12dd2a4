// What placement asks of the modules that are built on it.
#pragma once

#include <string>

#include "src/core/fleet/live.h"
#include "src/core/jobs/live.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/lane.h"
#include "src/core/turn.h"

namespace hodei::core {

// Jobs: what waits, and what happens to a job that is placed.
class Dispatch {
 public:
  virtual ~Dispatch() = default;
  virtual LiveJob* find(JobId job) const = 0;  // null: it is not live
  virtual void dispatch(JobId job, LiveWorker& worker, Decision decision, Turn& turn) = 0;
  virtual void put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) = 0;
};

// Provisioning: workers can be made for what fits nowhere.
class Supply {
 public:
  virtual ~Supply() = default;
  virtual void want(const Lane& lane) = 0;
  // A quota has room again: workers may be made for what waited for it.
  virtual void look_soon() = 0;
};

struct PlacementPorts {
  Dispatch* jobs = nullptr;
  Supply* supply = nullptr;
};

}  // namespace hodei::core
