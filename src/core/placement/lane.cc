#include "src/core/placement/lane.h"

namespace hodei::core {

void Backlog::insert(Lane* lane, JobId first, const Fit& fit) {
  const size_t c = static_cast<size_t>(lane->priority) - 1;
  const uint64_t pass = lane->tenant->pass[c];
  auto [it, fresh] = classes_[c].tenants.try_emplace(lane->tenant->ordinal, TenantLanes{lane->tenant, pass, {}});
  if (fresh) classes_[c].order.insert({pass, lane->tenant->ordinal});
  it->second.lanes.insert({first, {lane, fit}});
  ++size_;
}

void Backlog::erase(Lane* lane, JobId first) {
  Class& all = classes_[static_cast<size_t>(lane->priority) - 1];
  const auto it = all.tenants.find(lane->tenant->ordinal);
  if (it == all.tenants.end() || it->second.lanes.erase(first) == 0) return;
  --size_;
  if (!it->second.lanes.empty()) return;
  all.order.erase({it->second.pass, it->first});
  all.tenants.erase(it);
}

void Backlog::reorder(const Tenant& tenant) {
  for (size_t c = 0; c < kPriorities; ++c) {
    Class& all = classes_[c];
    const auto it = all.tenants.find(tenant.ordinal);
    if (it == all.tenants.end()) continue;
    all.order.erase({it->second.pass, tenant.ordinal});
    it->second.pass = tenant.pass[c];
    all.order.insert({tenant.pass[c], tenant.ordinal});
  }
}

}  // namespace hodei::core
