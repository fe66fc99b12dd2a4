// What must happen outside once a batch is durable.
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
  std::vector<ExecutionId> unknown;  // not current: stop and forget them
  std::vector<ExecutionId> held;     // logs go on from where they are durable
};
struct TellDrain {
  WorkerId worker;
  uint64_t stream = 0;
  std::string reason;
  bool is_over = false;  // it shall stay after all
};
// Its word that it stops is durable: nothing more is sent to it on this stream but answers.
struct NoteStop {
  WorkerId worker;
  uint64_t stream = 0;
};
// Words for the worker's own log.
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
// Transitions from index `first` on are new (0 counts the submission itself).
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

// Make it; `record` says what it must be. Its token is made by whoever carries this out.
struct CreateWorker {
  WorkerRecordPtr record;
};
// End it and everything that was made for it.
struct DestroyWorker {
  std::string provider;
  WorkerId worker;
  std::string handle;
};
// Ask for the list again and bring what runs in line with it.
struct ProvidersChanged {};

using Effect =
    std::variant<RunExecution, CancelExecution, AckResult, WelcomeWorker, TellDrain, NoteStop, TellWorker, DropStream,
                 JobMoved, JobProgressed, ExecutionLost, CreateWorker, DestroyWorker, ProvidersChanged>;

// Everything that a run of decisions wants.
struct Turn {
  Writes writes;
  std::vector<Effect> effects;
};

}  // namespace hodei::core
