// Job affinity: reads the labels of the jobs that a worker is running. Unlike the other rules it depends on what a
// worker *does*, so it is evaluated for each worker, and again whenever the worker gets or ends a job.
#pragma once

#include <optional>
#include <string>

#include "src/core/fleet/live.h"
#include "src/core/placement/score.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

inline constexpr std::string_view kAffinityRule = "affinity";

// Whether the rule holds for one of the worker's jobs.
bool has_matching_job(const LabelRule& rule, const LiveWorker& worker);

std::optional<std::string> rejects_affinity(const Shape& shape, const LiveWorker& worker);

// Whether the worker runs the jobs that this one must share a worker with, ignoring those it must avoid.
bool meets_required_affinity(const Shape& shape, const LiveWorker& worker);

// The fit including the job's preferred affinity rules, each of which is one preference.
Fit with_affinity(const Shape& shape, Fit fit, const LiveWorker& worker);

bool has_preferred_affinity(const Shape& shape);

// As text: "team In (a, b)".
std::string as_text(const LabelRule& rule);

}  // namespace hodei::core
