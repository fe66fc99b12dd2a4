// Job-to-job affinity: the labels of the jobs that a worker is running. Unlike the other rules it reads what a worker
// *does*, so it is asked worker by worker, and again whenever one gets or ends a job.
#pragma once

#include <optional>
#include <string>

#include "src/core/placement/score.h"
#include "src/core/placement/shape.h"
#include "src/core/worker/live.h"

namespace hodei::core {

inline constexpr std::string_view kCompanyRule = "company";

// Whether the rule holds for one of the worker's jobs.
bool has_company(const LabelRule& rule, const LiveWorker& worker);

std::optional<std::string> rejects_company(const Shape& shape, const LiveWorker& worker);

// Whether it would be in the required company if the worker had no others: what must be there is there.
bool could_have_company(const Shape& shape, const LiveWorker& worker);

// The fit with what the job would rather run beside or away from: each such rule is one of its preferences.
Fit in_company(const Shape& shape, Fit fit, const LiveWorker& worker);

bool prefers_company(const Shape& shape);

// In words: "team In (a, b)".
std::string in_words(const LabelRule& rule);

}  // namespace hodei::core
