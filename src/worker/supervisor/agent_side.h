// Connects the agent with the Keeper: handles the messages of agents, and carries out and reports what the Keeper
// decides.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "src/worker/protocol/protocol.h"
#include "src/worker/reports/socket_folder.h"
#include "src/worker/supervisor/shutdown.h"
#include "src/worker/supervisor/supervisor_parts.h"

namespace hodei::worker {

class AgentSide {
 public:
  AgentSide(SupervisorParts& parts, Shutdown& shutdown) : parts_(parts), shutdown_(shutdown) {}
  void open();

  void launch_if_due(Now now);
  MonoTime next_launch() const;
  void settle(Now now);  // carry out what the Keeper wants until it wants nothing
  void tell_news(Now now);

 private:
  void attach(Now now);
  void share_ring(uint64_t ring);
  void on_message(protocol::Message& message, Now now);
  void start(protocol::Start& order, Now now);
  void forget(ExecutionId execution);
  void carry_out(const KeeperAction& action, Now now);

  SupervisorParts& parts_;
  Shutdown& shutdown_;
  SocketFolder socket_folder_;  // of the socket that agents serve to jobs
  std::string socket_secret_;
  std::optional<std::pair<ExecutionId, Program>> offered_;  // what will run if the Keeper says Spawn
};

}  // namespace hodei::worker
