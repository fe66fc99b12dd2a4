// The agent's side of executions: what the Session wants done with them, what the runner tells of them, and their
// output on its way from the rings to the stream.
#pragma once

#include <map>
#include <string>

#include "src/worker/agent/agent_parts.h"

namespace hodei::worker {

class ExecutionSide {
 public:
  explicit ExecutionSide(AgentParts& parts) : parts_(parts) {}

  void hear(Now now);  // what has happened to executions
  void hear_masks();
  bool is_orphaned() const { return is_orphaned_; }  // the runner is gone

  // What the Session wants.
  void act(StartExecution& start, Now now);
  void act(KillExecution& kill, Now now);
  void act(ExtendLease& lease, Now now);
  void act(ForgetExecution& forget, Now now);

  void put_output(Now now);  // what is due, and progress of jobs, into the next message

 private:
  void on(const run::Ready& ready, Now now);
  void on(const run::Started& started, Now now);
  void on(const run::Exited& exited, Now now);
  void on(const run::Ended& ended, Now now);
  void on(const run::UsageRead& usage, Now now);
  void on(const run::LinesDropped& dropped, Now now);
  void on(const run::StopAsked&, Now now);
  void on(const run::Gone& gone, Now now);
  void note_exit(const Exit& exit);

  AgentParts& parts_;
  std::map<ExecutionId, std::string> traces_;  // of those that this agent started, for its journal
  bool is_orphaned_ = false;
};

}  // namespace hodei::worker
