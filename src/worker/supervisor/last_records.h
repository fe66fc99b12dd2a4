// Keeps what a stopped supervisor could not report (LastReport, LastOutput) in the state folder, and holds what an
// earlier supervisor left there until a server has acknowledged it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/worker/core/keeper.h"
#include "src/worker/supervisor/execution_rings.h"
#include "src/worker/supervisor/last_report.h"
#include "src/worker/supervisor/state_folder.h"

namespace hodei::worker {

class LastRecords {
 public:
  using Notes = std::map<ExecutionId, std::string>;

  explicit LastRecords(const StateFolder& state) : state_(state) {}

  // Ends and output that an earlier supervisor could not tell.
  void recall(Keeper& keeper, ExecutionRings& rings);
  const std::vector<std::string>& stopped() const { return stopped_; }  // see LastReport
  // When a server has acknowledged all of them they are deleted, unless this supervisor is about to leave its own.
  void server_welcomed(bool stopping);
  void forgotten(ExecutionId execution, bool stopping);

  // The server may be unreachable, or have no room for reports. `end_agent` says whether the agent is gone.
  void leave(const Keeper& keeper, const Notes& notes, ExecutionRings& rings, const std::function<bool()>& end_agent);

 private:
  void drop_if_told(bool stopping);
  void leave_output(const LastReport& report, const Notes& notes, ExecutionRings& rings, bool agent_is_gone) const;

  const StateFolder& state_;
  std::vector<std::string> stopped_;
  std::set<ExecutionId> adopted_;  // from the last report, and not acknowledged yet
  bool exist_ = false;             // in the state folder
  bool welcomed_ = false;          // by a server, at least once
};

}  // namespace hodei::worker
