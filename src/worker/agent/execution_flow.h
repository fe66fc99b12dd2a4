// What happens between the runner, the Session and the log pump: who of them hears of what, in which order. No socket,
// no message, no thread: the simulator runs exactly this.
#pragma once

#include <vector>

#include "src/worker/agent/execution_masks.h"
#include "src/worker/core/session.h"
#include "src/worker/output/log_pump.h"
#include "src/worker/runners/runner.h"

namespace hodei::worker {

// How far the server has the output of an execution.
struct OutputPosition {
  ExecutionId execution;
  uint64_t offset = 0;
};

class ExecutionFlow {
 public:
  // They outlive it.
  ExecutionFlow(Session& session, LogPump& pump, Runner& runner, ExecutionMasks& masks)
      : session_(session), pump_(pump), runner_(runner), masks_(masks) {}

  // What the runner tells.
  void ready(const run::Ready& ready, Now now);
  void started(const run::Started& started);
  bool exited(const run::Exited& exited);  // false: nobody holds it any more
  void ended(const run::Ended& ended);

  // What the Session wants.
  void kill(const KillExecution& kill, Now now);
  void forget(ExecutionId execution);

  // What the server says. `window`: how much output may be under way, 0 where it knows of none.
  void welcomed(size_t window, const std::vector<OutputPosition>& positions, const std::vector<ExecutionId>& unknown,
                Now now);
  void output_acked(const std::vector<OutputPosition>& positions);

  // Output that is due, for one message. The receiver reads it before results: these may go into the same message.
  std::vector<LogPart> take_output(Now now);

 private:
  void follow_output(ExecutionId execution, RingMemory* ring);

  Session& session_;
  LogPump& pump_;
  Runner& runner_;
  ExecutionMasks& masks_;
};

}  // namespace hodei::worker
