// Latencies, summed up: what people ask for, and enough points to draw the whole distribution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/lib/facts.h"

namespace hodei::bench {

class Quantiles {
 public:
  explicit Quantiles(std::vector<int64_t> ns) : sorted_(std::move(ns)) { std::sort(sorted_.begin(), sorted_.end()); }

  double ms(double share) const {
    if (sorted_.empty()) return 0;
    const auto at = static_cast<size_t>(share * static_cast<double>(sorted_.size() - 1));
    return static_cast<double>(sorted_[at]) / 1e6;
  }
  size_t count() const { return sorted_.size(); }

  void add_to(Facts& facts) const {
    std::vector<double> curve;  // at 0, 1, … 100 %
    for (int percent = 0; percent <= 100; ++percent) curve.push_back(ms(percent / 100.0));
    facts.add("count", static_cast<int64_t>(count()))
        .add("p50_ms", ms(0.5))
        .add("p99_ms", ms(0.99))
        .add("curve_ms", curve);
  }

 private:
  std::vector<int64_t> sorted_;
};

}  // namespace hodei::bench
