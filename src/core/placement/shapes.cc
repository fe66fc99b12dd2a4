#include "src/core/placement/shapes.h"

#include <utility>

#include "src/core/placement/worker_classes.h"

namespace hodei::core {

WaitingShape* ShapeTable::at(const ShapePtr& shape) {
  std::unique_ptr<WaitingShape>& slot = all_[shape->encoded];
  if (slot == nullptr) {
    slot = std::make_unique<WaitingShape>();
    slot->shape = shape;
    slot->ordinal = ordinals_.take();
    for (const auto& [profile, kind] : classes_.all()) judge(*slot, *kind);
    by_ordinal_[slot->ordinal] = slot.get();
  }
  return slot.get();
}

const WaitingShape* ShapeTable::find(const std::string& encoded) const {
  const auto it = all_.find(encoded);
  return it == all_.end() ? nullptr : it->second.get();
}

const WaitingShape* ShapeTable::find(Ordinal ordinal) const {
  const auto it = by_ordinal_.find(ordinal);
  return it == by_ordinal_.end() ? nullptr : it->second;
}

ShapePtr ShapeTable::shared(const ShapePtr& shape) const {
  const auto it = all_.find(shape->encoded);
  return it == all_.end() ? shape : it->second->shape;
}

void ShapeTable::add_lane(Lane* lane) {
  WaitingShape& shape = *lane->shape;
  if (shape.lanes.empty()) with_affinity_ += !shape.shape->affinity.empty();
  shape.lanes.push_back(lane);
  if (shape.idle_since != 0) idle_.erase(std::exchange(shape.idle_since, 0));
}

void ShapeTable::remove_lane(Lane* lane) {
  WaitingShape* shape = lane->shape;
  std::erase(shape->lanes, lane);
  if (!shape->lanes.empty()) return;
  with_affinity_ -= !shape->shape->affinity.empty();
  // Jobs that are placed as they come would have every worker judged again and again.
  shape->idle_since = ++idle_count_;
  idle_[shape->idle_since] = shape;
  if (idle_.size() <= kMaxIdle) return;
  WaitingShape* oldest = idle_.begin()->second;
  idle_.erase(idle_.begin());
  by_ordinal_.erase(oldest->ordinal);
  const ShapePtr keep = oldest->shape;
  all_.erase(keep->encoded);
}

}  // namespace hodei::core
