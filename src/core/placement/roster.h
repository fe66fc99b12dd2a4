// Who has room and who waits for it.
//
// Workers that no rule can tell apart form a WorkerClass, so a shape is judged once per class and not once per worker.
// Inside a class, workers with a free slot are sorted by the part of the score that does not depend on the shape. A
// lane that waits is in the backlog of every class that could take it.
//
// Invariant between decisions: a waiting lane fits on no available worker. So a freed worker needs to look only at its
// own class's backlog, and a new job only at the tops of its eligible classes.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "src/core/placement/lane.h"
#include "src/core/placement/strategy.h"

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
  Ordinal ordinal = 0;
  WorkerInfo example;
  absl::btree_set<LiveWorker*, ByOrdinal> members;
  absl::btree_set<LiveWorker*, BetterWorker> open;  // available, with a free slot
  Backlog backlog;                                  // of the lanes that it serves

  // Workers that were made for different namespaces are of different kinds.
  bool serves(const Lane& lane) const { return core::serves(example, lane.tenant->ns.str()); }
};

struct Choice {
  LiveWorker* worker = nullptr;
  Decision decision;
};

class Roster {
 public:
  // Judged shapes that are kept though nobody waits with them right now.
  static constexpr size_t kMaxIdleShapes = 256;
  static constexpr size_t kMaxSharedLabels = 1024;
  // Tenants that are remembered though nothing of theirs waits or runs. What is lost with one is whether its last job
  // was placed a moment ago: at most one turn.
  static constexpr size_t kMaxIdleTenants = 1024;

  explicit Roster(const SchedulerConfig* config, Ordinal first_ordinal = 1)
      : config_(config), next_ordinal_(first_ordinal) {}
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;

  // Workers. `refresh` after anything changed that rank, room or availability depend on.
  void add(LiveWorker* worker);
  void change(LiveWorker* worker, const WorkerRecordPtr& record);
  void remove(LiveWorker* worker);
  void refresh(LiveWorker* worker);
  void refresh_all();

  // Waiting jobs.
  Lane* lane(Priority priority, const Namespace& ns, const ShapePtr& shape);  // made when there is none
  void enqueue(Lane* lane, JobId job);
  void dequeue(Lane* lane, JobId job);
  void drop_if_idle(Lane* lane);  // call after the last job of a lane left; the pointer is dead then
  void served(Lane* lane);        // a job of this lane was placed: its tenant moves back

  // Tenants. One is there from its first job or setting on, and for a while after its last.
  Tenant* tenant(const Namespace& ns);
  const Tenant* find_tenant(const Namespace& ns) const;
  const std::map<Namespace, std::unique_ptr<Tenant>>& tenants() const { return tenants_; }
  void set_tenant(const TenantRow& row);
  void rest_if_idle(Tenant* tenant);  // call after something of it ended
  // Whether its tenant may have a further job with a worker now.
  bool admits(const Lane& lane) const { return lane.tenant->admits(lane.shape->shape->needs); }

  // Every shape has an opinion of every kind of worker: what these take in memory, also with one kind more.
  size_t judgement_bytes(size_t more_kinds = 0) const {
    return shapes_.size() * (classes_.size() + more_kinds) * sizeof(WaitingShape::Eligible);
  }
  bool knows(const Shape& shape) const { return shapes_.contains(shape.encoded); }
  bool knows_kind_of(const WorkerInfo& info) const;

  // What to keep in a head: the shape and the name that those already share who wait with an equal one.
  ShapePtr shared(const ShapePtr& shape) const;
  Namespace shared(const Namespace& ns) const;
  LabelsPtr shared(const LabelsPtr& labels);

  // The best available worker for a lane, none of those, with the reasons; no worker if none fits.
  Choice best(const Lane& lane, const std::vector<WorkerId>& but_not = {}) const;
  // The first waiting lane that fits on this worker.
  Lane* first_waiting(const LiveWorker& worker);
  // The first lane of a tenant that its quotas admit and that fits on a worker, whichever.
  Lane* first_waiting_of(const Tenant& tenant);
  // Whether a worker that no rule turns away takes a job of this lane now.
  bool fits(const Lane& lane, const Fit& fit, const LiveWorker& worker) const;
  Decision decision_for(const Lane& lane, const LiveWorker& winner, const Fit& fit) const;

  // By its ordinal; null when nobody waits with it any more.
  const WaitingShape* shape(Ordinal ordinal) const;
  void each_lane(const std::function<void(const Lane&)>& visit) const;
  // A worker gets a job: its turn is over.
  void took_turn(LiveWorker& worker) { worker.turn = ++turns_; }
  // Whether somebody waits who cares what others run on a worker.
  bool company_wanted() const { return company_shapes_ > 0; }

  // Lanes that somebody waits in: the one of this name, and the first one behind it (class, tenant, shape).
  Lane* lane(const LaneKey& key) const;
  Lane* lane_after(const LaneKey& key) const;
  size_t lanes() const { return lanes_.size(); }
  // Every worker of a kind that no rule turns away from the lane, whatever it does right now.
  template <class Visit>
  void visit_eligible(const Lane& lane, const Visit& visit) const {
    for (const WaitingShape::Eligible& e : lane.shape->eligible) {
      if (!e.kind->serves(lane)) continue;
      for (LiveWorker* worker : e.kind->members) visit(*worker);
    }
  }

  size_t kinds() const { return classes_.size(); }
  // Whether workers of some kind are such. Of a kind one example is looked at: no size, no name.
  template <class Is>
  bool any_kind(const Is& is_such) const {
    return std::any_of(classes_.begin(), classes_.end(), [&](const auto& c) { return is_such(c.second->example); });
  }
  size_t shapes() const { return shapes_.size() - idle_.size(); }  // that somebody waits with

 private:
  WorkerClass* class_of(const WorkerInfo& info);
  void judge(WaitingShape& shape, WorkerClass& kind);
  void leave_class(LiveWorker* worker);
  void drop_if_empty(WorkerClass* kind);
  void note_first(Lane* lane);
  void index(Lane* lane);
  void index_stale();
  WaitingShape* waiting(const ShapePtr& shape);
  void count_rejections(const Lane& lane, Decision& decision) const;

  const SchedulerConfig* config_;
  std::map<std::string, std::unique_ptr<WorkerClass>> classes_;
  absl::flat_hash_map<std::string, std::unique_ptr<WaitingShape>> shapes_;  // by encoded form; never iterated to decide
  std::map<Ordinal, WaitingShape*> shapes_by_ordinal_;
  std::map<uint64_t, WaitingShape*> idle_;  // shapes without lanes, the longest idle first
  uint64_t idle_count_ = 0;
  size_t members_ = 0;  // of all classes
  // Lanes whose first job changed since backlogs were last read: a job that is placed as it comes never gets into one.
  std::vector<Lane*> stale_;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::map<Namespace, std::unique_ptr<Tenant>> tenants_;
  std::map<uint64_t, Tenant*> idle_tenants_;  // the longest idle first
  std::array<uint64_t, kPriorities> last_pass_{};
  Ordinal next_ordinal_;
  std::map<Labels, LabelsPtr> labels_;  // of recent jobs
  uint64_t turns_ = 0;
  size_t company_shapes_ = 0;  // with lanes
};

}  // namespace hodei::core
