// Translates between the plain structs of the worker and the messages of the stream.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hodei/v1/worker_service.pb.h"
#include "src/worker/core/session.h"
#include "src/worker/limits/live_usage.h"
#include "src/worker/output/line_cutter.h"
#include "src/worker/reports/report_line.h"

namespace hodei::worker {

// Which start of which supervisor speaks; see StateFolder.
struct StartedAs {
  std::string incarnation;
  std::string lineage;
  uint64_t generation = 0;
  std::vector<std::string> stopped = {};  // earlier starts that were stopped in good order
};

void put_hello(const SendHello& hello, const std::string& session_id, const StartedAs& self, v1::WorkerMessage& out);
void put_started(const SendStarted& started, v1::WorkerMessage& out);
void put_result(const Exit& exit, v1::WorkerMessage& out);
void put_progress(ExecutionId execution, const ProgressLine& progress, v1::WorkerMessage& out);
void put_log(LogPart part, v1::WorkerMessage& out);
void put_usage(const std::vector<LiveUsage>& usage, v1::Heartbeat& out);

// None: the id or the spec makes no sense; said in the journal.
std::optional<RunOrder> read_order(v1::RunJob& run);
std::optional<ExecutionId> read_execution(const std::string& text);

}  // namespace hodei::worker
