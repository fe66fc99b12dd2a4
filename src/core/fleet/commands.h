// The commands of workers, and their answers. Values that must be random or secret (tokens, session ids) are created by
// the caller, so that the engine stays deterministic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/fleet/worker.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct MakeOtp {
  Hash128 token;
  WorkerId worker;
};

struct RegisterWorker {
  std::optional<Hash128> otp;      // either this
  std::optional<Hash128> session;  // or an earlier session
  Hash128 new_session;             // used if there is an otp
  WorkerInfo info;
  std::string incarnation;
  std::string lineage;  // see Incarnation; empty: none
  uint64_t generation = 0;
  std::vector<std::string> stopped = {};  // see OpenStream
};

struct HeldExecution {
  ExecutionId execution;
  bool started = false;
  bool ended = false;
  bool interrupted = false;  // ended or not started because the worker was stopped
};

struct OpenStream {
  Hash128 session;
  std::string incarnation;
  uint64_t stream = 0;  // a number the caller never reuses
  std::vector<HeldExecution> held;
  std::string lineage;
  uint64_t generation = 0;
  bool stopping = false;      // the worker was told to stop; see WorkerStops
  std::string unfit = {};     // see Heartbeat
  bool lists_active = false;  // its heartbeats list all its executions
  // Earlier starts of this worker that were shut down cleanly and left nothing running. Executions of theirs that are
  // not in `held` were interrupted.
  std::vector<std::string> stopped = {};
};

struct CloseStream {
  WorkerId worker;
  uint64_t stream = 0;
};

struct Heartbeat {
  WorkerId worker;
  uint64_t stream = 0;  // 0: a unary call
  int64_t sent_us = 0;
  double cpu_load = 0;
  int64_t memory_used_mb = 0;
  int64_t dropped_logs = 0;
  std::string unfit = {};                // what the worker reports to be wrong; empty: nothing
  std::vector<ExecutionId> active = {};  // its executions; see OpenStream::lists_active
};

// The worker was told to stop. It gets no new work, reports the end of what it has, and leaves. It may come back.
struct WorkerStops {
  WorkerId worker;
  uint64_t stream = 0;           // 0: it said so while the store was away, and its stream has closed since
  std::string incarnation = {};  // the incarnation that said so; empty: the one that has the stream
};
struct DrainWorker {
  WorkerId worker;
  std::string reason;
  bool now = false;  // requeue its executions, without counting an attempt
};
// Lets a draining worker take work again.
struct UndrainWorker {
  WorkerId worker;
};
struct TaintWorker {
  WorkerId worker;
  std::vector<Taint> taints;
};  // the complete list
// by_itself: the worker says that it runs nothing any more, so its executions are requeued at once. Otherwise it must
// not have any.
struct UnregisterWorker {
  WorkerId worker;
  std::string reason;
  bool by_itself = false;
  std::string incarnation = {};  // the incarnation that leaves by itself; empty: the current one
};

struct Stall {
  Duration length{0};
};  // the loop was blocked: silence during this time does not count

struct DescribeWorkers {
  std::string prefix;
  bool exact = false;
};  // empty: all
struct FindSession {
  Hash128 session;
};  // whose session it is

struct Registered {
  WorkerId worker;
};
// `given`: the executions it claims to hold and was indeed given, as far as memory knows; the store knows older ones.
struct StreamOpened {
  WorkerId worker;
  std::vector<ExecutionId> given;
};
// started, then progress, then results
struct OtpMade {
  WorkerId worker;
  WallTime expires;
};
struct Drained {
  uint32_t executions_left = 0;
};
// What the worker must do: `drain`, `cancel j1f3k.1` (the execution is to end), `stop j1f3k.1` (it is not this
// worker's).
struct HeartbeatTaken {
  std::vector<std::string> instructions;
};

struct WorkerView {
  WorkerRecordPtr record;
  WorkerState state{};
  bool connected = false;
  bool unhealthy = false;
  std::string unfit;  // what it reports to be wrong; empty: nothing
  bool stopped = false;
  WallTime paused_until;  // not set: not paused
  std::vector<ExecutionId> executions;
  double cpu_load = 0;
  int64_t memory_used_mb = 0;
  int64_t dropped_logs = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  WallTime last_seen;
};
struct WorkerViews {
  std::vector<WorkerView> workers;
};

using FleetCommands = TypeList<MakeOtp, RegisterWorker, OpenStream, CloseStream, Heartbeat, WorkerStops, DrainWorker,
                               UndrainWorker, TaintWorker, UnregisterWorker, Stall>;
using FleetQuestions = TypeList<DescribeWorkers, FindSession>;
using FleetAnswers = TypeList<Registered, StreamOpened, OtpMade, Drained, HeartbeatTaken, WorkerViews>;

}  // namespace hodei::core
