#include "src/core/placement/tenants.h"

#include <algorithm>
#include <utility>

namespace hodei::core {
namespace {

size_t class_of(const Lane& lane) { return static_cast<size_t>(lane.priority) - 1; }

}  // namespace

Tenant* TenantTable::at(const Namespace& ns) {
  std::unique_ptr<Tenant>& slot = all_[ns];
  if (slot == nullptr) {
    slot = std::make_unique<Tenant>();
    slot->ns = ns;
    slot->row.ns = ns.str();
    slot->ordinal = ordinals_.take();
  }
  if (slot->idle_since != 0) idle_.erase(std::exchange(slot->idle_since, 0));
  return slot.get();
}

const Tenant* TenantTable::find(const Namespace& ns) const {
  const auto it = all_.find(ns);
  return it == all_.end() ? nullptr : it->second.get();
}

Namespace TenantTable::shared(const Namespace& ns) const {
  const auto it = all_.find(ns);
  return it == all_.end() ? ns : it->second->ns;
}

void TenantTable::rest_if_idle(Tenant* tenant) {
  if (tenant->idle_since != 0 || !tenant->is_idle()) return;
  tenant->idle_since = ++idle_count_;
  idle_[tenant->idle_since] = tenant;
  if (idle_.size() <= kMaxIdle) return;
  const Namespace longest = idle_.begin()->second->ns;
  idle_.erase(idle_.begin());
  all_.erase(longest);
}

Tenant& TenantTable::set(const TenantRow& row) {
  Tenant& changed = *at(Namespace(row.ns));
  const auto before = static_cast<double>(changed.stride);
  changed.set(row);
  // Whoever waits for a turn far ahead, because its weight was small, must not go on waiting by the old weight.
  const double by = static_cast<double>(changed.stride) / before;
  for (size_t c = 0; c < kPriorities; ++c) {
    if (changed.pass[c] <= last_pass_[c]) continue;
    changed.pass[c] = last_pass_[c] + static_cast<uint64_t>(static_cast<double>(changed.pass[c] - last_pass_[c]) * by);
  }
  return changed;
}

void TenantTable::count_lane(const Lane& lane, bool has_jobs) {
  const size_t c = class_of(lane);
  Tenant& owner = *lane.tenant;
  if (!has_jobs) {
    --owner.lanes[c];
  } else if (owner.lanes[c]++ == 0) {
    // A tenant that was idle does not collect credit for it.
    owner.pass[c] = std::max(owner.pass[c], last_pass_[c]);
  }
  if (owner.sums()) owner.count_lane(lane.shape->shape->needs, has_jobs);
}

void TenantTable::served(const Lane& lane) {
  const size_t c = class_of(lane);
  Tenant& owner = *lane.tenant;
  last_pass_[c] = std::max(last_pass_[c], owner.pass[c]);
  // Who could not be served for a while, because nothing of its own fitted, catches up on some of that and not on all:
  // it would keep everybody else out for as long.
  const uint64_t credit = std::min(last_pass_[c], kMaxCatchUp * owner.stride);
  owner.pass[c] = std::max(owner.pass[c], last_pass_[c] - credit) + owner.stride;
}

}  // namespace hodei::core
