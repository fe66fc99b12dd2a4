// How tenants take turns: by stride. Every placement moves its tenant back by a step that is the smaller, the larger
// the tenant's weight is, and who is furthest ahead goes first.
#include <algorithm>
#include <utility>

#include "src/core/placement/roster.h"

namespace hodei::core {

Tenant* Roster::tenant(const Namespace& ns) {
  std::unique_ptr<Tenant>& slot = tenants_[ns];
  if (slot == nullptr) {
    slot = std::make_unique<Tenant>();
    slot->ns = ns;
    slot->row.ns = ns.str();
    slot->ordinal = next_ordinal_++;
  }
  if (slot->idle_since != 0) idle_tenants_.erase(std::exchange(slot->idle_since, 0));
  return slot.get();
}

void Roster::rest_if_idle(Tenant* tenant) {
  if (tenant->idle_since != 0 || !tenant->is_idle()) return;
  tenant->idle_since = ++idle_count_;
  idle_tenants_[tenant->idle_since] = tenant;
  if (idle_tenants_.size() <= kMaxIdleTenants) return;
  const Namespace longest = idle_tenants_.begin()->second->ns;
  idle_tenants_.erase(idle_tenants_.begin());
  tenants_.erase(longest);
}

const Tenant* Roster::find_tenant(const Namespace& ns) const {
  const auto it = tenants_.find(ns);
  return it == tenants_.end() ? nullptr : it->second.get();
}

void Roster::set_tenant(const TenantRow& row) {
  Tenant& changed = *tenant(Namespace(row.ns));
  const auto before = static_cast<double>(changed.stride);
  changed.set(row);
  // Whoever waits for a turn far ahead, because its weight was small, must not go on waiting by the old weight.
  const double by = static_cast<double>(changed.stride) / before;
  for (size_t c = 0; c < kPriorities; ++c) {
    if (changed.pass[c] <= last_pass_[c]) continue;
    changed.pass[c] = last_pass_[c] + static_cast<uint64_t>(static_cast<double>(changed.pass[c] - last_pass_[c]) * by);
  }
  for (auto& [profile, kind] : classes_) kind->backlog.reorder(changed);
  changed.cpu_waiting.clear();
  changed.memory_waiting.clear();
  if (!changed.sums()) return rest_if_idle(&changed);
  for (const auto& [key, lane] : lanes_) {
    if (lane->tenant == &changed && !lane->jobs.empty()) changed.count_lane(lane->shape->shape->needs, true);
  }
}

void Roster::enqueue(Lane* lane, JobId job) {
  const size_t c = static_cast<size_t>(lane->priority) - 1;
  Tenant& owner = *lane->tenant;
  if (lane->jobs.empty()) {
    // A tenant that was idle does not collect credit for it.
    if (owner.lanes[c]++ == 0) owner.pass[c] = std::max(owner.pass[c], last_pass_[c]);
    if (owner.sums()) owner.count_lane(lane->shape->shape->needs, true);
  }
  lane->jobs.insert(job);
  note_first(lane);
}

void Roster::dequeue(Lane* lane, JobId job) {
  if (lane->jobs.erase(job) > 0 && lane->jobs.empty()) {
    --lane->tenant->lanes[static_cast<size_t>(lane->priority) - 1];
    if (lane->tenant->sums()) lane->tenant->count_lane(lane->shape->shape->needs, false);
  }
  note_first(lane);
}

void Roster::served(Lane* lane) {
  const size_t c = static_cast<size_t>(lane->priority) - 1;
  Tenant& owner = *lane->tenant;
  last_pass_[c] = std::max(last_pass_[c], owner.pass[c]);
  // Who could not be served for a while, because nothing of its own fitted, catches up on some of that and not on all:
  // it would keep everybody else out for as long.
  const uint64_t credit = std::min(last_pass_[c], kMaxCatchUp * owner.stride);
  owner.pass[c] = std::max(owner.pass[c], last_pass_[c] - credit) + owner.stride;
}

Lane* Roster::first_waiting_of(const Tenant& tenant) {
  if (tenant.closed()) return nullptr;
  index_stale();
  for (size_t c = kPriorities; c-- > 0;) {
    if (tenant.lanes[c] == 0) continue;
    Lane* first = nullptr;
    for (auto& [profile, kind] : classes_) {
      const auto& open = kind->open;
      if (open.empty()) continue;
      Lane* lane = kind->backlog.first_of(tenant, c, [&](const Lane& candidate, const Fit& fit) {
        return admits(candidate) && std::any_of(open.begin(), open.end(), [&](const LiveWorker* worker) {
                 return fits(candidate, fit, *worker);
               });
      });
      if (lane != nullptr && (first == nullptr || lane->first() < first->first())) first = lane;
    }
    if (first != nullptr) return first;
  }
  return nullptr;
}

}  // namespace hodei::core
