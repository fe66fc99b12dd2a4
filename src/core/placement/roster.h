// Which workers have room, and which lanes wait for it.
//
// Workers that no rule can tell apart form a WorkerClass, so a shape is judged once per class and not once per worker.
// Inside a class, workers with a free slot are sorted by the part of the score that does not depend on the shape. A
// waiting lane is in the backlog of every class that could take it.
//
// Invariant between decisions: a waiting lane fits on no available worker. So for a freed worker only the backlog of
// its class matters, and for a new job only the best workers of its eligible classes.
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
  Backlog backlog;                                  // the waiting lanes that it serves
  size_t left = 0;                                  // members that have left and are only remembered

  // Workers that were created for different namespaces are in different classes.
  bool serves(const Lane& lane) const { return core::serves(example, lane.tenant->ns.str()); }
};

struct Choice {
  LiveWorker* worker = nullptr;
  Decision decision;
};

class Roster {
 public:
  // Shapes that are kept although no job waits with them now.
  static constexpr size_t kMaxIdleShapes = 256;
  static constexpr size_t kMaxSharedLabels = 1024;
  // Tenants that are remembered although none of their jobs waits or runs. Forgetting one costs at most one turn:
  // whether its last job was placed a moment ago.
  static constexpr size_t kMaxIdleTenants = 1024;

  explicit Roster(const SchedulerConfig* config, Ordinal first_ordinal = 1)
      : config_(config), next_ordinal_(first_ordinal) {}
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;

  // Workers. Call `refresh` after any change that affects rank, room or availability.
  void add(LiveWorker* worker);
  void change(LiveWorker* worker, const WorkerRecordPtr& record);
  void remove(LiveWorker* worker);
  void refresh(LiveWorker* worker);
  void refresh_all();

  // Waiting jobs.
  Lane* lane(Priority priority, const Namespace& ns, const ShapePtr& shape);  // created if there is none
  void enqueue(Lane* lane, JobId job);
  void dequeue(Lane* lane, JobId job);
  void drop_if_idle(Lane* lane);  // call after the last job has left a lane; the pointer is then invalid
  void served(Lane* lane);        // a job of this lane was placed: its tenant moves back

  // Tenants. A tenant exists from its first job or setting until a while after its last.
  Tenant* tenant(const Namespace& ns);
  const Tenant* find_tenant(const Namespace& ns) const;
  const std::map<Namespace, std::unique_ptr<Tenant>>& tenants() const { return tenants_; }
  void set_tenant(const TenantRow& row);
  void rest_if_idle(Tenant* tenant);  // call after something of the tenant has ended
  // Whether the quotas of its tenant allow another execution now.
  bool admits(const Lane& lane) const { return lane.tenant->admits(lane.shape->shape->needs); }

  // The memory used by the judgements of every shape about every class of workers; with `more_kinds`, if there were
  // more.
  size_t judgement_bytes(size_t more_kinds = 0) const {
    return shapes_.size() * (classes_.size() + more_kinds) * sizeof(WaitingShape::Eligible);
  }
  bool knows(const Shape& shape) const { return shapes_.contains(shape.encoded); }
  bool knows_kind_of(const WorkerInfo& info) const;

  // What to keep in a head: the interned value shared by all waiting jobs with an equal one.
  ShapePtr shared(const ShapePtr& shape) const;
  Namespace shared(const Namespace& ns) const;
  LabelsPtr shared(const LabelsPtr& labels);

  // The best available worker for a lane, except those in `but_not`, and the reasons. Null if none fits.
  Choice best(const Lane& lane, const std::vector<WorkerId>& but_not = {}) const;
  // The first waiting lane that fits on this worker.
  Lane* first_waiting(const LiveWorker& worker);
  // The first lane of a tenant that its quotas admit and that fits on some worker.
  Lane* first_waiting_of(const Tenant& tenant);
  // Whether a worker that no rule rejects can take a job of this lane now.
  bool fits(const Lane& lane, const Fit& fit, const LiveWorker& worker) const;
  Decision decision_for(const Lane& lane, const LiveWorker& winner, const Fit& fit) const;

  // Null if it is no longer known.
  const WaitingShape* shape(Ordinal ordinal) const;
  const WaitingShape* shape(const std::string& encoded) const;  // null if it is not known
  void each_lane(const std::function<void(const Lane&)>& visit) const;
  // A worker has got a job: its turn is over.
  void took_turn(LiveWorker& worker) { worker.turn = ++turns_; }
  // Whether a waiting job has affinity rules about other jobs.
  bool company_wanted() const { return company_shapes_ > 0; }

  // Lanes with waiting jobs: the one with this key, and the next one in key order (class, tenant, shape).
  Lane* lane(const LaneKey& key) const;
  Lane* lane_after(const LaneKey& key) const;
  size_t lanes() const { return lanes_.size(); }
  // Every worker that no rule rejects for the lane, whatever it is doing now.
  template <class Visit>
  void visit_eligible(const Lane& lane, const Visit& visit) const {
    for (const WaitingShape::Eligible& e : lane.shape->eligible) {
      if (!e.kind->serves(lane)) continue;
      for (LiveWorker* worker : e.kind->members) visit(*worker);
    }
  }

  size_t kinds() const { return classes_.size(); }
  // Whether the predicate holds for any class of workers. It sees one example per class, so it must not read name or
  // size.
  template <class Is>
  bool any_kind(const Is& is_such) const {
    return std::any_of(classes_.begin(), classes_.end(), [&](const auto& c) { return is_such(c.second->example); });
  }
  size_t shapes() const { return shapes_.size() - idle_.size(); }  // with waiting jobs

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
  std::map<uint64_t, WaitingShape*> idle_;  // shapes without lanes, longest idle first
  uint64_t idle_count_ = 0;
  size_t members_ = 0;  // of all classes
  size_t left_ = 0;     // members that have left
  // Lanes whose first job changed since backlogs were last read. A job that is placed at once never enters a backlog.
  std::vector<Lane*> stale_;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::map<Namespace, std::unique_ptr<Tenant>> tenants_;
  std::map<uint64_t, Tenant*> idle_tenants_;  // longest idle first
  std::array<uint64_t, kPriorities> last_pass_{};
  Ordinal next_ordinal_;
  std::map<Labels, LabelsPtr> labels_;  // of recent jobs
  uint64_t turns_ = 0;
  size_t company_shapes_ = 0;  // with lanes
};

}  // namespace hodei::core
