// Workers that no rule can tell apart form a class, so a shape is judged once per class and not once per worker. Inside
// a class, workers with a free slot are sorted by the part of the score that does not depend on the shape. A waiting
// lane is in the backlog of every class that could take it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "src/core/placement/lane.h"
#include "src/core/placement/ordinals.h"
#include "src/core/placement/strategy.h"

namespace hodei::core {

class LaneTable;
class ShapeTable;

struct BetterWorker {
  bool operator()(const LiveWorker* a, const LiveWorker* b) const {
    return a->rank != b->rank ? a->rank > b->rank : a->ordinal < b->ordinal;
  }
};

struct ByOrdinal {
  bool operator()(const LiveWorker* a, const LiveWorker* b) const { return a->ordinal < b->ordinal; }
};

struct WorkerClass {
  std::string profile;
  Ordinal ordinal = 0;
  WorkerInfo example;
  absl::btree_set<LiveWorker*, ByOrdinal> members;
  absl::btree_set<LiveWorker*, BetterWorker> open;  // available, with a free slot
  Backlog backlog;                                  // the waiting lanes that it serves
  size_t left = 0;                                  // members that have left and are only remembered

  // Workers that were created for different namespaces are in different classes.
  bool serves(const Lane& lane) const { return core::serves(example, lane.tenant->ns.str()); }
};

// Enters the class among those that suit the shape, or among those that a rule keeps from it.
void judge(WaitingShape& shape, WorkerClass& kind);

class WorkerClasses {
 public:
  using All = std::map<std::string, std::unique_ptr<WorkerClass>>;

  WorkerClasses(const SchedulerConfig* config, Ordinals& ordinals, const ShapeTable& shapes, const LaneTable& lanes)
      : config_(config), ordinals_(ordinals), shapes_(shapes), lanes_(lanes) {}

  // Call `refresh` after any change that affects rank, room or availability of a worker.
  void add(LiveWorker* worker);
  void change(LiveWorker* worker, const WorkerRecordPtr& record);
  void remove(LiveWorker* worker);
  void refresh(LiveWorker* worker) const;
  void refresh_all() const;

  const All& all() const { return all_; }
  size_t size() const { return all_.size(); }
  size_t workers() const { return members_ - left_; }  // without those that have left
  bool knows_kind_of(const WorkerInfo& info) const;
  // Whether the predicate holds for any class of workers. It sees one example per class, so it must not read name or
  // size.
  template <class Is>
  bool any(const Is& is_such) const {
    return std::any_of(all_.begin(), all_.end(), [&](const auto& c) { return is_such(c.second->example); });
  }

 private:
  WorkerClass* at(const WorkerInfo& info);
  void leave_class(LiveWorker* worker);
  void drop_if_empty(WorkerClass* kind);

  const SchedulerConfig* config_;
  Ordinals& ordinals_;
  const ShapeTable& shapes_;
  const LaneTable& lanes_;
  All all_;
  size_t members_ = 0;  // of all classes
  size_t left_ = 0;     // members that have left
};

}  // namespace hodei::core
