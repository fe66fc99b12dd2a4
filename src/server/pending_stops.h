// Workers that said that they stop while that could not be stored. They may be gone when the store is back, so the
// server remembers it for them: otherwise their silence would count as a loss.
#pragma once

#include <map>
#include <string>

#include "src/base/ids.h"
#include "src/core/commands.h"
#include "src/core/engine.h"

namespace hodei::server {

class PendingStops {
 public:
  // Of what was decided and is not stored.
  void remember(const core::Turn& turn);
  // Of what could not even be decided.
  void remember(const core::Command& command);
  void decide_all(core::Engine& engine, Now now, core::Turn& turn) const;
  void clear() { stops_.clear(); }

 private:
  std::map<WorkerId, std::string> stops_;  // the incarnations that said so; at most one for each worker that is known
};

}  // namespace hodei::server
