// Translates the messages of the worker stream between protobuf and plain structs.
#pragma once

#include <deque>
#include <functional>

#include "absl/status/statusor.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/core/commands.h"
#include "src/server/metrics/sample_maker.h"
#include "src/server/worker_links.h"
#include "src/store/log_store.h"

namespace hodei::api {

// Whether a worker may name its lineage so. `field` is what an error is about.
absl::Status check_lineage(const char* field, const std::string& lineage);
// What a worker says is wrong with it; empty: it is well.
std::string unfit_from(const std::string& status);
// What it says that it has; ids that make no sense are left out.
std::vector<ExecutionId> active_from(const v1::Heartbeat& beat);
absl::StatusOr<std::vector<std::string>> stopped_from(const char* field,
                                                      const google::protobuf::RepeatedPtrField<std::string>& stopped);
absl::StatusOr<core::OpenStream> hello_from(const v1::Hello& hello);
// What the metrics are made from; executions whose id makes no sense are left out, and all but the last word about
// each.
server::Beat beat_from(const v1::Heartbeat& beat, const WorkerId& worker, Now at);
// Of the progress of each execution the newest alone.
absl::StatusOr<core::Report> report_from(const v1::WorkerMessage& message);
// The same in order, with at most so many items each, so that no turn of the loop is as long as a worker likes.
std::vector<core::Report> in_pieces(core::Report report, size_t most);
absl::StatusOr<store::LogPiece> log_from(v1::LogBatch& batch);
absl::StatusOr<store::LogPiece> log_from(v1::WorkerLogEntry& entry);

// Puts what a job's secrets hold into its order.
using OpenSecrets = std::function<void(const core::SpecRow& spec, v1::RunJob* order)>;

// Takes as many waiting messages as fit into one, in order.
void fill(std::deque<server::ToWorker>& waiting, const OpenSecrets& open_secrets, v1::ServerMessage* out);

}  // namespace hodei::api
