// What a dispatch must respect: the worker's state, slots, capacity and taints, the job's own demands, the order of
// priority classes, the order inside a lane, and that the delivery of secrets is on record.
#pragma once

#include <map>
#include <set>
#include <string>

#include "src/core/writes.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Dispatches {
 public:
  explicit Dispatches(World& world) : world_(world) {}

  // One write of a commit that was applied, in its order.
  void committed(const core::Write& write);
  void batch_ended() { deliveries_.clear(); }

 private:
  struct Used {
    std::set<JobId> jobs;
    core::Amounts amounts;
  };

  void moved(const core::JobPtr& job);
  void leave(JobId job);
  void check_worker(const core::JobHead& job, const core::WorkerRecord& worker);
  void check_order(const core::JobHead& job, const core::WorkerRecord& worker);
  bool goes_before(const core::JobHead& waiting, const core::JobHead& job);
  const std::string& kind_of(const core::Shape& shape);

  World& world_;
  std::map<WorkerId, core::WorkerRecordPtr> workers_;
  std::map<WorkerId, Used> used_;
  std::map<JobId, core::JobPtr> with_worker_;
  std::map<JobId, core::JobPtr> waiting_;     // not those in back-off
  std::set<std::string> limited_;             // tenants with quotas
  std::set<std::string> deliveries_;          // of secrets, on record in this batch
  std::map<std::string, std::string> kinds_;  // shapes without their amounts
};

}  // namespace hodei::sim
