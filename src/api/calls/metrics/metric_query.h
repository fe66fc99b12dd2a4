// Translates the requests of MetricsService into plain structs: which workers, which job, which span of time.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "hodei/v1/metrics_service.pb.h"
#include "src/api/calls/metrics/metrics_calls.h"

namespace hodei::api {

// Limits of a call, named in docs/limits.md.
inline constexpr size_t kMaxMetricSamples = 1'000'000;
inline constexpr int64_t kMaxMetricSteps = 10'000;

using WorkerLabels = std::map<WorkerId, std::map<std::string, std::string>>;

// Of the workers that are there now. Waits for the loop.
absl::StatusOr<WorkerLabels> labels_of_workers(Commands& commands, const core::EnvelopePtr& envelope);

struct MetricChoice {
  std::optional<std::vector<WorkerId>> workers;  // nothing: all
  JobId job{};                                   // 0: none named

  bool has(const store::MetricSample& sample, bool with_jobs) const;
};

absl::StatusOr<MetricChoice> choice_of(Commands& commands, const core::EnvelopePtr& envelope,
                                       const v1::MetricFilter& filter);
absl::StatusOr<store::MetricQuery> query_of(const MetricChoice& choice, const v1::MetricSpan& span, WallTime now);

// RESOURCE_EXHAUSTED when there are too many.
absl::StatusOr<std::vector<store::MetricSample>> samples_of(store::MetricsStore& samples, const MetricChoice& choice,
                                                            const store::MetricQuery& query);

void to_proto(const store::MetricSample& sample, v1::MetricSample* out);

}  // namespace hodei::api
