// The `hodei` binary: wires the command line to the server and the worker.
#include <cstdlib>
#include <string_view>

#include "absl/synchronization/mutex.h"
#include "src/base/journal.h"
#include "src/base/version.h"
#include "src/cli/cli.h"
#include "src/main/serve.h"
#include "src/worker/worker.h"

namespace {

// Started by a supervisor, never by people.
constexpr std::string_view kAttachedAgent = "attached-agent";

hodei::worker::WorkerOptions worker_options(const hodei::cli::AgentOptions& in) {
  hodei::worker::WorkerOptions out;
  for (const hodei::cli::Address& server : in.servers) out.servers.push_back(to_string(server));
  out.token = in.token;
  out.worker_id = in.worker_id;
  out.name = in.name;
  if (!in.state_dir.empty()) out.state_dir = in.state_dir;
  out.slots = static_cast<uint32_t>(in.slots);
  out.job_processes = static_cast<uint64_t>(in.job_processes);
  out.labels = in.labels;
  for (const hodei::cli::WorkerTaint& taint : in.taints) out.taints.push_back({taint.key, taint.value, taint.effect});
  out.pool = in.pool;
  out.metrics_listen = in.metrics_listen;
  return out;
}

void set_level(const char* text) {
  if (text == nullptr) return;
  const absl::StatusOr<hodei::Level> level = hodei::parse_level(text);
  if (level.ok()) hodei::set_journal_level(*level);
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC's own lines say nothing that our errors do not; whoever wants them sets the variable.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  // Debian's Abseil looks for lock cycles on every lock that gRPC takes, a twentieth of a busy server's time.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc == 2 && argv[1] == kAttachedAgent) {
    set_level(std::getenv("HODEI_LOG_LEVEL"));
    return hodei::worker::run_attached_agent();
  }
  hodei::cli::LocalCommands local;
  local.version = hodei::kVersion;
  local.server = hodei::run_server;
  local.dev = hodei::run_dev;
  local.agent = [](const hodei::cli::AgentOptions& options) {
    // Supervisor and agent speak at one level; the agent is started by exec and reads it from the environment.
    if (!options.log_level.empty()) setenv("HODEI_LOG_LEVEL", options.log_level.c_str(), 1);
    set_level(options.log_level.c_str());
    return hodei::worker::run_worker(worker_options(options), {"hodei", std::string(kAttachedAgent)});
  };
  return hodei::cli::run_cli(argc, argv, local);
}
