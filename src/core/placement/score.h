// The score of a worker for a job: free capacity 30, low load 25, affinity 20, preferred zone 15, success history 10
// (docs/semantics.md#score).
//
// Affinity is the share of the job's preferences (a provider, weighted labels, jobs to share a worker with) that the
// worker meets.
//
// Capacity, load and history depend only on the worker and change when it gets or ends work; affinity and zone depend
// only on fixed properties of shape and worker. Keeping the two apart makes a placement cheap. strategy.h combines the
// parts.
#pragma once

#include "src/core/fleet/live.h"
#include "src/core/placement/config.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

// How well a worker meets a job's preferences, each from 0 to 1. A job without preferences scores 0.
struct Fit {
  double affinity = 0;  // the weighted share of its preferences that the worker meets
  double zone = 0;
  bool avoided = false;         // by a soft taint
  double preferred_weight = 0;  // the sum of the weights of those preferences
};

// The weights of a preferred provider and of each preferred rule of job affinity.
inline constexpr double kProviderWeight = 50;
inline constexpr double kAffinityWeight = 50;

// Adds preferences with a total weight of `weight`, of which the worker meets `met`.
Fit with_preferences(Fit fit, double weight, double met);

Fit fit_of(const Shape& shape, const WorkerInfo& worker);

double capacity_part(const LiveWorker& worker);
double load_part(const LiveWorker& worker);

}  // namespace hodei::core
