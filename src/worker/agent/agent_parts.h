// The parts of an agent, in the order in which they need each other. The Agent owns them and turns the loop.
#pragma once

#include <map>
#include <string>

#include "hodei/v1/worker_service.pb.h"
#include "src/worker/agent/execution_flow.h"
#include "src/worker/agent/execution_masks.h"
#include "src/worker/agent/metrics_server.h"
#include "src/worker/agent/report_intake.h"
#include "src/worker/agent/worker_info.h"
#include "src/worker/agent/write_pace.h"
#include "src/worker/core/session.h"
#include "src/worker/limits/usage_cache.h"
#include "src/worker/output/log_pump.h"
#include "src/worker/runners/process_runner.h"
#include "src/worker/runners/staged_runner.h"
#include "src/worker/runners/supervisor_link.h"

namespace hodei::worker {

// What waits for the stream to take the next message.
struct Outgoing {
  v1::WorkerMessage message;
  bool has_any = false;

  // For whoever adds to it.
  v1::WorkerMessage& add() {
    has_any = true;
    return message;
  }
};

struct AgentParts {
  AgentParts(SupervisorLink& link, const Clock& its_clock, uint64_t seed);
  const WorkerOptions& options() const { return supervisor.attach().options; }

  const Clock& clock;
  SupervisorLink& supervisor;
  NotesByExecution notes;
  Session session;
  ExecutionMasks masks;
  LogPump pump;
  Transfers transfers;
  ProcessRunner processes;
  StagedRunner runner;  // around processes
  ExecutionFlow flow;
  ReportIntake reports;
  UsageCache usage;
  LoadMeter load;
  WritePace pace;
  Outgoing outgoing;
  AgentFigures figures;
  uint64_t dropped_lines = 0;  // of all executions, as the runner said last
};

}  // namespace hodei::worker
