// Executions as processes, which the supervisor runs. This is the agent's side: orders go to it over the socket, and
// what it tells comes back as events. Standard input is passed on from the server.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/worker/protocol/execution_notes.h"
#include "src/worker/runners/input_link.h"
#include "src/worker/runners/runner.h"
#include "src/worker/runners/supervisor_link.h"

namespace hodei::worker {

class ProcessRunner final : public Runner {
 public:
  // The link is attached; what the supervisor holds is the first event. All outlive it.
  ProcessRunner(SupervisorLink& supervisor, NotesByExecution& notes);

  std::vector<int> ready_fds() const override;
  void start(Launch launch) override;
  void end(ExecutionId execution, KillReason why, Duration grace, Now now) override;
  void forget(ExecutionId execution) override;
  void keep_notes(ExecutionId execution) override;
  void extend_lease(MonoTime until) override;
  void connected(const ServerAccess& server) override;
  void disconnected() override {}
  void look(Now now) override;
  void tick(Now now) override;
  MonoTime next_due() const override;
  std::vector<run::Event> take_events() override;
  bool flush() override { return supervisor_.flush(); }
  bool responds() const override { return life_.all_answered(); }
  void beat(Now now, bool with_usage) override;

 private:
  void take_over();  // what the supervisor holds
  void on_message(protocol::Message& message);
  std::string notes_of(ExecutionId execution) const;

  SupervisorLink& supervisor_;
  NotesByExecution& notes_;
  InputLink inputs_;
  LifeSigns life_;
  MonoTime lease_until_{0};
  std::set<ExecutionId> held_;
  std::vector<run::Event> events_;
};

}  // namespace hodei::worker
