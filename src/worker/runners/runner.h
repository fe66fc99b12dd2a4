// What runs executions for the agent: a port. The supervisor runs processes (ProcessRunner); StagedRunner fetches and
// sends artifacts around any other runner. The Session decides what is started and ended; a runner carries it out and
// reports the result. It never waits: look() takes new events, tick() does what is due.
//
// Promises, which runner_suite.h checks of every runner:
//  - an execution is started once, however often the order comes;
//  - each execution that was started is reported as Ended once, after Started if it ran at all;
//  - one that is ended for a reason is judged by that reason, unless it had ended by itself before;
//  - it is held until forget(), and what runs is held beyond this agent: the next one gets it in Ready;
//  - when the lease has ended nothing goes on, and without one nothing begins.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"
#include "src/worker/core/program.h"
#include "src/worker/limits/live_usage.h"
#include "src/worker/output/ring.h"

namespace grpc {
class Channel;
}

namespace hodei::worker {

// An order of the server, and the same in the terms of the machine.
struct Launch {
  RunOrder order;
  Program program;
};

// The server that the agent is connected to, for what runners exchange with it themselves: artifacts, standard input.
struct ServerAccess {
  std::shared_ptr<grpc::Channel> channel;
  std::string session_id;
};

// What has happened, in order.
namespace run {

struct HeldExecution {
  Held held;
  RingMemory* output = nullptr;  // null: it has none
  bool output_is_complete = false;
};
// The first event: what earlier agents started and nobody has forgotten.
struct Ready {
  std::vector<HeldExecution> held;
};
struct Started {
  ExecutionId execution;
  WallTime at;
  int64_t pid = 0;
  RingMemory* output = nullptr;
};
// What ran is gone and its output complete. More may follow before its end is reported.
struct Exited {
  Exit exit;
};
// How the execution ended: the last event about it.
struct Ended {
  Exit exit;
};
struct UsageRead {
  std::vector<LiveUsage> executions;
};
struct LinesDropped {
  uint64_t lines = 0;  // of all executions so far
};
struct StopAsked {};  // the worker is being stopped
// Nothing more will come, ever.
struct Gone {
  std::string why;
};

using Event = std::variant<Ready, Started, Exited, Ended, UsageRead, LinesDropped, StopAsked, Gone>;

}  // namespace run

class Runner {
 public:
  virtual ~Runner() = default;

  // Readable when look() may find something.
  virtual std::vector<int> ready_fds() const = 0;

  virtual void start(Launch launch) = 0;
  virtual void end(ExecutionId execution, KillReason why, Duration grace, Now now) = 0;
  virtual void forget(ExecutionId execution) = 0;
  // The notes about this execution have changed: as they are now they must outlive this agent.
  virtual void keep_notes(ExecutionId execution) = 0;
  virtual void extend_lease(MonoTime until) = 0;
  virtual void connected(const ServerAccess& server) = 0;
  virtual void disconnected() = 0;

  virtual void look(Now now) = 0;
  virtual void tick(Now now) = 0;
  virtual MonoTime next_due() const = 0;
  virtual std::vector<run::Event> take_events() = 0;
  // Passes on what it was told. False: some of it still waits, and nothing large should be added.
  virtual bool flush() = 0;

  // False: what it was last asked has not been answered. A worker whose runner hangs is not alive.
  virtual bool responds() const = 0;
  // With each heartbeat: asks for a sign of life, and for what executions use.
  virtual void beat(Now now, bool with_usage) = 0;
};

}  // namespace hodei::worker
