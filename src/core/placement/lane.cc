#include "src/core/placement/lane.h"

namespace hodei::core {

void Backlog::insert(Lane* lane, JobId first) {
  auto& tenants = classes_[static_cast<size_t>(lane->priority) - 1];
  auto [it, fresh] = tenants.try_emplace(lane->tenant->ordinal, TenantLanes{lane->tenant, {}});
  it->second.lanes.insert({first, lane});
  ++size_;
}

void Backlog::erase(Lane* lane, JobId first) {
  auto& tenants = classes_[static_cast<size_t>(lane->priority) - 1];
  const auto it = tenants.find(lane->tenant->ordinal);
  if (it == tenants.end() || it->second.lanes.erase({first, lane}) == 0) return;
  if (it->second.lanes.empty()) tenants.erase(it);
  --size_;
}

}  // namespace hodei::core
