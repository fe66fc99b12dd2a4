#include "src/server/metrics/aggregate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "src/base/finite.h"

namespace hodei::server {
namespace {

double percentile(const std::vector<double>& sorted, double part) {
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

store::MetricSample average(const std::vector<store::MetricSample>& samples, size_t first, size_t last, WallTime at) {
  std::array<double, kSeries> sums{};
  for (size_t i = first; i < last; ++i) {
    const std::array<double, kSeries> values = values_of(samples[i]);
    for (size_t s = 0; s < kSeries; ++s) sums[s] += values[s] / static_cast<double>(last - first);
  }
  store::MetricSample out = samples[first];
  out.at = at;
  out.cpu = sums[0];
  out.memory_bytes = bounded_whole(sums[1], 0, INT64_MAX);
  out.network_rx = sums[2];
  out.network_tx = sums[3];
  out.disk_read = sums[4];
  out.disk_write = sums[5];
  return out;
}

}  // namespace

std::array<double, kSeries> values_of(const store::MetricSample& s) {
  return {s.cpu, static_cast<double>(s.memory_bytes), s.network_rx, s.network_tx, s.disk_read, s.disk_write};
}

Aggregate aggregate(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  Aggregate out;
  out.avg = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  out.min = values.front();
  out.max = values.back();
  out.p50 = percentile(values, 0.50);
  out.p95 = percentile(values, 0.95);
  out.p99 = percentile(values, 0.99);
  return out;
}

std::vector<store::MetricSample> in_steps(const std::vector<store::MetricSample>& samples, WallTime from,
                                          Duration step) {
  std::vector<store::MetricSample> out;
  size_t first = 0;
  while (first < samples.size()) {
    const int64_t number = (samples[first].at - from) / step;
    size_t last = first + 1;
    while (last < samples.size() && (samples[last].at - from) / step == number) ++last;
    out.push_back(average(samples, first, last, from + step * number));
    first = last;
  }
  return out;
}

}  // namespace hodei::server
