// Samples summed up: by percentiles, and step by step.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "src/store/metrics_store.h"

namespace hodei::server {

inline constexpr size_t kSeries = 6;
inline constexpr std::string_view kSeriesNames[kSeries] = {"cpu",
                                                           "memory_bytes",
                                                           "network_rx_bytes_per_second",
                                                           "network_tx_bytes_per_second",
                                                           "disk_read_bytes_per_second",
                                                           "disk_write_bytes_per_second"};

// The values of a sample in the order of the names.
std::array<double, kSeries> values_of(const store::MetricSample& sample);

struct Aggregate {
  double avg = 0, min = 0, max = 0, p50 = 0, p95 = 0, p99 = 0;

  bool operator==(const Aggregate&) const = default;
};

// Percentiles are values that occur: the smallest that so many are not above. Needs at least one value; sorts them.
Aggregate aggregate(std::vector<double>& values);

// One sample per step that has any, at the step's begin: their averages. `samples` are of one worker, by time.
std::vector<store::MetricSample> in_steps(const std::vector<store::MetricSample>& samples, WallTime from,
                                          Duration step);

}  // namespace hodei::server
