// The lanes of the queue, by class, tenant and shape.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "src/core/placement/lane.h"
#include "src/core/placement/shapes.h"
#include "src/core/placement/tenants.h"

namespace hodei::core {

class LaneTable {
 public:
  using All = std::map<LaneKey, std::unique_ptr<Lane>>;

  LaneTable(TenantTable& tenants, ShapeTable& shapes) : tenants_(tenants), shapes_(shapes) {}

  Lane* at(Priority priority, const Namespace& ns, const ShapePtr& shape);  // made if there is none
  // The lane with this key, and the next one in key order; null: none.
  Lane* find(const LaneKey& key) const;
  Lane* after(const LaneKey& key) const;
  void each(const std::function<void(const Lane&)>& visit) const;
  const All& all() const { return all_; }
  size_t size() const { return all_.size(); }

  void enqueue(Lane* lane, JobId job);
  void dequeue(Lane* lane, JobId job);
  void drop_if_idle(Lane* lane);  // call after the last job has left a lane; the pointer is then invalid

  // Before backlogs are read.
  void index_stale();

 private:
  void note_first(Lane* lane);
  void index(Lane* lane);

  TenantTable& tenants_;
  ShapeTable& shapes_;
  All all_;
  // Lanes whose first job changed since backlogs were last read. A job that is placed at once never enters a backlog.
  std::vector<Lane*> stale_;
};

}  // namespace hodei::core
