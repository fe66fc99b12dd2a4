#include "src/core/placement/lanes.h"

#include "src/core/placement/worker_classes.h"

namespace hodei::core {

Lane* LaneTable::at(Priority priority, const Namespace& ns, const ShapePtr& shape) {
  Tenant* owner = tenants_.at(ns);
  WaitingShape* entry = shapes_.at(shape);
  std::unique_ptr<Lane>& slot = all_[LaneKey{static_cast<uint8_t>(priority), owner->ordinal, entry->ordinal}];
  if (slot == nullptr) {
    slot = std::make_unique<Lane>();
    slot->priority = priority;
    slot->tenant = owner;
    slot->shape = entry;
    ++owner->all_lanes;
    shapes_.add_lane(slot.get());
  }
  return slot.get();
}

void LaneTable::drop_if_idle(Lane* lane) {
  if (!lane->jobs.empty() || lane->parked > 0) return;
  if (lane->stale) std::erase(stale_, lane);
  index(lane);
  const LaneKey key = lane->key();
  Tenant* owner = lane->tenant;
  shapes_.remove_lane(lane);
  all_.erase(key);
  --owner->all_lanes;
  tenants_.rest_if_idle(owner);
}

void LaneTable::index(Lane* lane) {
  lane->stale = false;
  const JobId first = lane->first();
  if (first == lane->indexed) return;
  for (const WaitingShape::Eligible& e : lane->shape->eligible) {
    if (!e.kind->serves(*lane)) continue;
    if (lane->indexed != JobId{}) e.kind->backlog.erase(lane, lane->indexed);
    if (first != JobId{}) e.kind->backlog.insert(lane, first, e.fit);
  }
  lane->indexed = first;
}

void LaneTable::index_stale() {
  for (Lane* lane : stale_) index(lane);
  stale_.clear();
}

void LaneTable::note_first(Lane* lane) {
  if (lane->stale || lane->first() == lane->indexed) return;
  lane->stale = true;
  stale_.push_back(lane);
}

void LaneTable::enqueue(Lane* lane, JobId job) {
  if (lane->jobs.empty()) tenants_.count_lane(*lane, true);
  lane->jobs.insert(job);
  note_first(lane);
}

void LaneTable::dequeue(Lane* lane, JobId job) {
  if (lane->jobs.erase(job) > 0 && lane->jobs.empty()) tenants_.count_lane(*lane, false);
  note_first(lane);
}

Lane* LaneTable::find(const LaneKey& key) const {
  const auto it = all_.find(key);
  return it == all_.end() ? nullptr : it->second.get();
}

Lane* LaneTable::after(const LaneKey& key) const {
  const auto it = all_.upper_bound(key);
  return it == all_.end() ? nullptr : it->second.get();
}

void LaneTable::each(const std::function<void(const Lane&)>& visit) const {
  for (const auto& [key, lane] : all_) visit(*lane);
}

}  // namespace hodei::core
