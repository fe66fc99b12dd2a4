// The score of SPEC 2.4: free capacity 30, low load 25, affinity 20, preferred zone 15, success history 10.
//
// Capacity, load and history depend only on the worker and change when it gets or ends work; affinity and zone depend
// only on what shape and worker *are*. Keeping the two apart is what makes a placement cheap. strategy.h puts the parts
// together.
#pragma once

#include "src/core/placement/config.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/shape.h"
#include "src/core/worker/live.h"

namespace hodei::core {

// Each from 0 to 1.
struct Fit {
  double affinity = 1;
  double zone = 1;
  bool avoided = false;  // by a soft taint
};

Fit fit_of(const Shape& shape, const WorkerInfo& worker);

double capacity_part(const LiveWorker& worker);
double load_part(const LiveWorker& worker);

}  // namespace hodei::core
