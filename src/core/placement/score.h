// The score of SPEC 2.4: free capacity 30, low load 25, affinity 20, preferred zone 15, success history 10.
//
// Affinity: of what the job prefers (a provider, labels of the worker with weights, jobs to run beside), the share that
// the worker meets.
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

// How well a worker suits what a job prefers, each from 0 to 1. A job that prefers nothing has nothing to score.
struct Fit {
  double affinity = 0;  // the share of its preferences, by their weights, that the worker meets
  double zone = 0;
  bool avoided = false;  // by a soft taint
  double wished = 0;     // the weights of those preferences together
};

// What a preferred provider, and each job that it would rather run beside or away from, count for.
inline constexpr double kProviderWeight = 50;
inline constexpr double kCompanyWeight = 50;

// With `wished` more of weight, of which the worker meets `met`.
Fit with_wishes(Fit fit, double wished, double met);

Fit fit_of(const Shape& shape, const WorkerInfo& worker);

double capacity_part(const LiveWorker& worker);
double load_part(const LiveWorker& worker);

}  // namespace hodei::core
