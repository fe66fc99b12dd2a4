// Handles the reports of providers about the workers that they create, and the arrival of these workers.
#pragma once

#include <string>

#include "src/core/provision/context.h"
#include "src/core/routing.h"

namespace hodei::core {

class MakerReports {
 public:
  explicit MakerReports(const ProvisionContext& context) : context_(context) {}

  Answer decide(const WorkerMade& c, Turn& turn);
  Answer decide(const WorkerRuns& c, Turn& turn);
  Answer decide(const WorkerHeldUp& c, Turn& turn);
  Answer decide(const WorkerFailed& c, Turn& turn);
  Answer decide(const WorkerDestroyed& c, Turn& turn);
  Answer decide(const Inventory& c, Turn& turn);

  void bury_gone(Turn& turn);
  void has_come(LiveWorker& worker, Turn& turn);

 private:
  void judge_made(const LiveWorker& worker, const std::string& shape, Turn& turn);

  const ProvisionContext& context_;
};

}  // namespace hodei::core
