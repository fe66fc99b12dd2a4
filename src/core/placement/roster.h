// Which workers have room, and which lanes wait for it.
//
// Invariant between decisions: a waiting lane fits on no available worker. So for a freed worker only the backlog of
// its class matters, and for a new job only the best workers of its eligible classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "src/core/placement/lane.h"
#include "src/core/placement/lanes.h"
#include "src/core/placement/shapes.h"
#include "src/core/placement/strategy.h"
#include "src/core/placement/tenants.h"
#include "src/core/placement/worker_classes.h"

namespace hodei::core {

struct Choice {
  LiveWorker* worker = nullptr;
  Decision decision;
};

// The labels of recent jobs: equal ones are one object.
class LabelPool {
 public:
  static constexpr size_t kMost = 1024;

  LabelsPtr shared(const LabelsPtr& labels);

 private:
  std::map<Labels, LabelsPtr> all_;
};

class Roster {
 public:
  explicit Roster(const SchedulerConfig* config, Ordinal first_ordinal = 1)
      : config_(config),
        ordinals_{first_ordinal},
        tenants(ordinals_),
        shapes(ordinals_, workers),
        lanes(tenants, shapes),
        workers(config, ordinals_, shapes, lanes) {}
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;

  const SchedulerConfig& config() const { return *config_; }
  // Whether a worker that gets a job may rank high enough for other jobs by it.
  bool packs_to_threshold() const { return config_->packing == Packing::Pack && config_->threshold > 0; }
  void set_tenant(const TenantRow& row);

  // The memory used by the judgements of every shape about every class of workers; with `more_kinds`, if there were
  // more.
  size_t judgement_bytes(size_t more_kinds = 0) const {
    return shapes.size() * (workers.size() + more_kinds) * sizeof(WaitingShape::Eligible);
  }

  // Whether the quotas of its tenant allow another execution now.
  bool admits(const Lane& lane) const { return lane.tenant->admits(lane.shape->shape->needs); }
  // Whether a worker that no rule rejects can take a job of this lane now.
  bool fits(const Lane& lane, const Fit& fit, const LiveWorker& worker) const;
  // The best available worker for a lane, except those in `but_not`, and the reasons. Null if none fits.
  Choice best(const Lane& lane, const std::vector<WorkerId>& but_not = {}) const;
  Decision decision_for(const Lane& lane, const LiveWorker& winner, const Fit& fit) const;
  // The first waiting lane that fits on this worker.
  Lane* first_waiting(const LiveWorker& worker);
  // The first lane of a tenant that its quotas admit and that fits on some worker.
  Lane* first_waiting_of(const Tenant& tenant);
  // A worker has got a job: its turn is over.
  void took_turn(LiveWorker& worker) { worker.turn = ++turns_; }

  // Every worker that no rule rejects for the lane, whatever it is doing now.
  template <class Visit>
  void visit_eligible(const Lane& lane, const Visit& visit) const {
    for (const WaitingShape::Eligible& e : lane.shape->eligible) {
      if (!e.kind->serves(lane)) continue;
      for (LiveWorker* worker : e.kind->members) visit(*worker);
    }
  }

 private:
  void count_rejections(const Lane& lane, Decision& decision) const;

  const SchedulerConfig* config_;
  Ordinals ordinals_;
  uint64_t turns_ = 0;

 public:
  TenantTable tenants;
  ShapeTable shapes;
  LaneTable lanes;
  WorkerClasses workers;
  LabelPool labels;
};

}  // namespace hodei::core
