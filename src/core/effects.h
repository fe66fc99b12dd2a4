// What must happen outside the engine once a batch is durable.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "src/core/job/job.h"
#include "src/core/writes.h"

namespace hodei::core {

struct RunExecution {
  WorkerId worker;
  uint64_t stream = 0;
  ExecutionId execution;
  uint32_t attempt = 1;
  bool has_secrets = false;
};
struct CancelExecution {
  WorkerId worker;
  uint64_t stream = 0;
  ExecutionId execution;
  bool timed_out = false;
  Duration grace{0};
};
struct AckResult {
  WorkerId worker;
  uint64_t stream = 0;
  ExecutionId execution;
};
struct WelcomeWorker {
  WorkerId worker;
  uint64_t stream = 0;
  std::vector<ExecutionId> unknown;  // not current; the worker must stop and forget them
  std::vector<ExecutionId> held;     // their output continues from where it is durable
};
struct TellDrain {
  WorkerId worker;
  uint64_t stream = 0;
  std::string reason;
  bool is_over = false;  // the drain was undone; the worker stays
};
// That the worker stops is now durable: it is sent nothing but answers on this stream.
struct NoteStop {
  WorkerId worker;
  uint64_t stream = 0;
};
// A message for the worker's own log.
struct TellWorker {
  WorkerId worker;
  uint64_t stream = 0;
  std::string words;
};
struct DropStream {
  WorkerId worker;
  uint64_t stream = 0;
  std::string reason;
};
// Transitions from index `first` on are new (index 0 is the submission).
struct JobMoved {
  JobPtr job;
  size_t first = 0;
};
struct JobProgressed {
  JobPtr job;
};
// The worker will never send the rest of this execution's output.
struct ExecutionLost {
  ExecutionId execution;
};

// Create the worker that `record` describes. Whoever carries this out also creates its token.
struct CreateWorker {
  WorkerRecordPtr record;
};
// Destroy the worker and everything that was created for it.
struct DestroyWorker {
  std::string provider;
  WorkerId worker;
  std::string handle;
};
// Read the list of providers again and start or stop adapters to match.
struct ProvidersChanged {};

using Effect =
    std::variant<RunExecution, CancelExecution, AckResult, WelcomeWorker, TellDrain, NoteStop, TellWorker, DropStream,
                 JobMoved, JobProgressed, ExecutionLost, CreateWorker, DestroyWorker, ProvidersChanged>;

// Everything that a series of decisions has produced.
struct Turn {
  Writes writes;
  std::vector<Effect> effects;
};

}  // namespace hodei::core
