// Executions with artifacts, around any other runner: inputs are fetched before the other runner hears of an execution,
// and outputs are uploaded before its end is reported.
//
// For its user, an execution whose inputs are being fetched has not started yet, and one whose outputs are being
// sent has not ended yet. So heartbeats list it, Hello lists it, a cancel reaches it, and exactly one end is reported.
// Only what the other runner holds survives this process: an execution that was still being prepared is not in it, the
// next Hello does not list it, and the server dispatches it again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/worker/artifacts/transfers.h"
#include "src/worker/protocol/execution_notes.h"
#include "src/worker/runners/runner_around.h"

namespace hodei::worker {

class StagedRunner final : public RunnerAround {
 public:
  struct Parts {
    Transfers& transfers;
    NotesByExecution& notes;
    std::string folder;  // where the folders of executions with artifacts are made
  };
  StagedRunner(Runner& inner, Parts parts) : RunnerAround(inner), parts_(std::move(parts)) {}

  std::vector<int> ready_fds() const override;
  void start(Launch launch) override;
  void end(ExecutionId execution, KillReason why, Duration grace, Now now) override;
  void forget(ExecutionId execution) override;
  void extend_lease(MonoTime until) override;
  void connected(const ServerAccess& server) override;
  void disconnected() override;
  void look(Now now) override;
  void tick(Now now) override;
  MonoTime next_due() const override;
  std::vector<run::Event> take_events() override;

 private:
  // An execution whose artifacts are on their way.
  struct Staged {
    enum class Phase : uint8_t { Preparing, Waiting, Sending };  // Waiting: for the server, to begin to send
    Phase phase = Phase::Preparing;
    Launch launch;  // while preparing
    Exit exit;      // how the program ended, afterwards
  };

  void hear_inner();
  void take_over(run::Ready& ready);
  bool hold_back(const Exit& exit);  // true: its outputs are sent first
  void inputs_are_there(ExecutionId execution, const absl::Status& result);
  void outputs_are_sent(ExecutionId execution, const absl::Status& result);
  bool end_staged(ExecutionId execution, KillReason why);  // false: it is not staged

  const Parts parts_;
  std::map<ExecutionId, Staged> staged_;
  MonoTime lease_until_{0};
  bool connected_ = false;
  bool stopping_ = false;
  Now now_;  // as it was last told
  std::vector<run::Event> events_;
};

}  // namespace hodei::worker
