// Who has room and who waits for it.
//
// Workers that no rule can tell apart form a WorkerClass, so a shape is judged once per class and not once per worker.
// Inside a class, workers with a free slot are sorted by the part of the score that does not depend on the shape. A
// lane that waits is in the backlog of every class that could take it.
//
// Invariant between decisions: a waiting lane fits on no available worker. So a freed worker needs to look only at its
// own class's backlog, and a new job only at the tops of its eligible classes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "src/core/placement/lane.h"

namespace hodei::core {

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
  uint32_t ordinal = 0;
  WorkerInfo example;
  absl::btree_set<LiveWorker*, ByOrdinal> members;
  absl::btree_set<LiveWorker*, BetterWorker> open;       // available, with a free slot
  Backlog backlog;
};

struct Choice {
  LiveWorker* worker = nullptr;
  Decision decision;
};

class Roster {
 public:
  // Judged shapes that are kept though nobody waits with them right now.
  static constexpr size_t kMaxIdleShapes = 256;

  explicit Roster(const SchedulerConfig* config) : config_(config) {}
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;

  // Workers. `refresh` after anything changed that rank, room or availability depend on.
  void add(LiveWorker* worker);
  void change(LiveWorker* worker, const WorkerRecordPtr& record);
  void remove(LiveWorker* worker);
  void refresh(LiveWorker* worker);
  void refresh_all();

  // Waiting jobs.
  Lane* lane(Priority priority, const Namespace& ns, const ShapePtr& shape);     // made when there is none
  void enqueue(Lane* lane, JobId job);
  void dequeue(Lane* lane, JobId job);
  void drop_if_idle(Lane* lane);      // call after the last job of a lane left; the pointer is dead then
  void served(Lane* lane);            // a job of this lane was placed: its tenant moves back

  // Whether its tenant may have a further job with a worker now.
  bool admits(const Lane&) const { return true; }

  // What to keep in a head: the shape and the name that those already share who wait with an equal one.
  ShapePtr shared(const ShapePtr& shape) const;
  Namespace shared(const Namespace& ns) const;

  // The best available worker for a shape, with the reasons; no worker if none fits.
  Choice best(const WaitingShape& shape) const;
  // The first waiting lane that fits on this worker.
  Lane* first_waiting(const LiveWorker& worker);
  bool fits(const Shape& shape, const Fit& fit, const LiveWorker& worker) const;
  Decision decision_for(const WaitingShape& shape, const LiveWorker& winner, const Fit& fit) const;

  // By its ordinal; null when nobody waits with it any more.
  const WaitingShape* shape(uint32_t ordinal) const;
  void each_lane(const std::function<void(const Lane&)>& visit) const;

  size_t shapes() const { return shapes_.size() - idle_.size(); }   // that somebody waits with

 private:
  using LaneKey = std::tuple<uint8_t, uint32_t, uint32_t>;   // priority, tenant, shape

  WorkerClass* class_of(const WorkerInfo& info);
  void judge(WaitingShape& shape, WorkerClass& kind);
  void leave_class(LiveWorker* worker);
  void drop_if_empty(WorkerClass* kind);
  void note_first(Lane* lane);
  void index(Lane* lane);
  Tenant* tenant(const Namespace& ns);
  WaitingShape* waiting(const ShapePtr& shape);
  void count_rejections(const WaitingShape& shape, Decision& decision) const;

  const SchedulerConfig* config_;
  std::map<std::string, std::unique_ptr<WorkerClass>> classes_;
  absl::flat_hash_map<std::string, std::unique_ptr<WaitingShape>> shapes_;   // by encoded form; never iterated to decide
  std::map<uint32_t, WaitingShape*> shapes_by_ordinal_;
  std::map<uint64_t, WaitingShape*> idle_;                   // shapes without lanes, the longest idle first
  uint64_t idle_count_ = 0;
  size_t members_ = 0;                                       // of all classes
  // Lanes whose first job changed since backlogs were last read: a job that is placed as it comes never gets into one.
  std::vector<Lane*> stale_;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::map<Namespace, std::unique_ptr<Tenant>> tenants_;
  std::array<uint64_t, kPriorities> last_pass_{};
  uint32_t next_ordinal_ = 1;
};

}  // namespace hodei::core
