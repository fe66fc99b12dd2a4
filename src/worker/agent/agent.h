// The agent: wiring between the supervisor's socket, the server's stream, the runners and the jobs that report. It
// decides nothing itself: the Session does; it keeps nothing that must survive it: the supervisor does.
#pragma once

#include <optional>

#include "src/worker/agent/agent_parts.h"
#include "src/worker/agent/execution_side.h"
#include "src/worker/agent/metrics_server.h"
#include "src/worker/agent/server_side.h"
#include "src/worker/runners/supervisor_link.h"

namespace hodei::worker {

// Until it has left (0), or the supervisor is gone (1).
int run_agent(Fd socket, const Clock& clock);

class Agent {
 public:
  // The link is attached, and outlives it.
  Agent(SupervisorLink& supervisor, const Clock& clock);
  int run();

 private:
  enum Key : uint64_t { kLoop = 0, kJobs };  // what woke the loop; it looks at all but the jobs anyway

  bool open();
  bool listen(int fd, Key key);
  void serve_metrics();
  void wait();
  MonoTime next_due();
  void turn(Now now);
  void settle(Now now);  // carry out what the Session wants until it wants nothing
  void send(Now now);    // one message with all that waits, if the stream takes one

  AgentParts parts_;
  ServerSide server_;
  ExecutionSide executions_;
  std::optional<MetricsServer> metrics_;  // none: off, or its address is taken
  Fd epoll_;
  bool jobs_speak_ = false;
};

}  // namespace hodei::worker
