// Ends workers that nobody needs any more, and workers that never connected.
#pragma once

#include <string>

#include "src/core/provision/context.h"

namespace hodei::core {

class ScaleDown {
 public:
  explicit ScaleDown(const ProvisionContext& context) : context_(context) {}

  void sweep(Turn& turn);
  void retire_if_used(LiveWorker& worker, Turn& turn);
  void left(LiveWorker& worker, Turn& turn);  // its record is Terminating from now on

 private:
  void sweep_deadlines(Turn& turn);
  void sweep_idle(Turn& turn);
  void drain(LiveWorker& worker, const std::string& why, Turn& turn);

  const ProvisionContext& context_;
};

}  // namespace hodei::core
