// Recent specs, so that a job that is dispatched soon after its submission costs no read. Used on the loop's thread.
#pragma once

#include <list>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "src/core/writes.h"

namespace hodei::server {

class SpecCache {
 public:
  static constexpr size_t kMaxBytes = size_t{8} << 20;

  void put(std::shared_ptr<const core::SpecRow> spec);
  std::shared_ptr<const core::SpecRow> find(JobId job) const;
  void drop(JobId job);

 private:
  using Order = std::list<std::shared_ptr<const core::SpecRow>>;

  Order order_;  // oldest first
  absl::flat_hash_map<JobId, Order::iterator> index_;
  size_t bytes_ = 0;
};

}  // namespace hodei::server
