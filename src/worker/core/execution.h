// What the worker knows about one execution, in plain structs that Keeper and Session share.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/ids.h"
#include "src/base/outcome.h"
#include "src/base/run_facts.h"
#include "src/base/time.h"

namespace hodei::worker {

using hodei::Outcome;

// How an execution ended. Kept by the supervisor until the server has acknowledged it.
struct Exit {
  ExecutionId execution;
  Outcome outcome = Outcome::Failed;
  int exit_code = 0;
  int signal = 0;
  std::string failure;  // a stable word: non_zero_exit, signal, timeout, command_not_found, permission_denied,
                        // spawn_failed, oom, disk_quota, input_error, lease_expired, worker_restarted, interrupted,
                        // cancelled, infrastructure
  std::string message;  // for people
  WallTime started;     // not set: it never started
  WallTime ended;
  int64_t log_bytes = 0;
  RunFacts facts;
};

// An order from the server. `spec` is the serialized JobSpec; Keeper and Session never read it.
struct RunOrder {
  ExecutionId execution;
  std::string job_id = {};  // as the server calls the job; empty: it did not say
  uint32_t attempt = 1;
  uint64_t epoch = 0;
  std::string spec;
  std::map<std::string, std::string> secrets;
  std::string secret_error;  // not empty: one cannot be delivered
  std::string input_error;   // not empty: its standard input is not whole
  std::string traceparent;
};

// Why an execution is being killed; decides the outcome that is reported.
enum class KillReason : uint8_t { Cancelled = 1, TimedOut, LeaseExpired, Stopping };

// What the supervisor tells a new agent about each execution it holds.
struct Held {
  ExecutionId execution;
  bool started = false;
  bool ended = false;
  int64_t pid = 0;  // of the main process, once started
  Exit exit;        // `started` is set once started, the rest is valid when ended
};

}  // namespace hodei::worker
