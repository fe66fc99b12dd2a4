#include "src/main/worker_start.h"

#include <cstdlib>
#include <string_view>

#include "absl/synchronization/mutex.h"
#include "src/base/journal.h"
#include "src/worker/reports/report_client.h"
#include "src/worker/worker.h"

namespace hodei {
namespace {

// Started by a supervisor, never by people.
constexpr std::string_view kAttachedAgent = "attached-agent";

worker::WorkerOptions worker_options(const cli::AgentOptions& in) {
  worker::WorkerOptions out;
  for (const cli::Address& server : in.servers) out.servers.push_back(to_string(server));
  out.token = in.token;
  out.worker_id = in.worker_id;
  out.name = in.name;
  if (!in.state_dir.empty()) out.state_dir = in.state_dir;
  out.slots = static_cast<uint32_t>(in.slots);
  out.job_processes = static_cast<uint64_t>(in.job_processes);
  out.cgroups = in.cgroups != "off";
  out.only_cgroups_v1 = in.cgroups == "v1";
  out.job_log_bytes = in.job_log_bytes;
  out.log_batch_lines = static_cast<uint32_t>(in.log_batch_lines);
  out.log_batch_interval = in.log_batch_interval;
  out.stop_grace = in.stop_grace;
  out.leave_after = in.leave_after;
  out.metrics_listen = in.metrics_listen;
  out.labels = in.labels;
  for (const cli::WorkerTaint& taint : in.taints) out.taints.push_back({taint.key, taint.value, taint.effect});
  out.pool = in.pool;
  out.provider = in.provider;
  out.isolation = in.isolation;
  out.image = in.image;
  out.cpu_milli = in.cpu_milli;
  out.memory_mb = in.memory_bytes >> 20;
  out.gpus = in.gpus;
  return out;
}

void set_level(const char* text) {
  if (text == nullptr) return;
  const absl::StatusOr<Level> level = parse_level(text);
  if (level.ok()) set_journal_level(*level);
}

}  // namespace

void quiet_libraries() {
  // gRPC's own lines say nothing that our errors do not; whoever wants them sets the variable.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  // Debian's Abseil looks for lock cycles on every lock that gRPC takes, a twentieth of a busy server's time.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

bool was_attached_agent(int argc, char** argv, int& exit_code) {
  if (argc != 2 || argv[1] != kAttachedAgent) return false;
  set_level(std::getenv("HODEI_LOG_LEVEL"));
  exit_code = worker::run_attached_agent();
  return true;
}

void add_worker_commands(cli::LocalCommands& local, const std::string& program) {
  local.agent = [program](const cli::AgentOptions& options) {
    // Supervisor and agent speak at one level; the agent is started by exec and reads it from the environment.
    if (!options.log_level.empty()) setenv("HODEI_LOG_LEVEL", options.log_level.c_str(), 1);
    set_level(options.log_level.c_str());
    return worker::run_worker(worker_options(options), {program, std::string(kAttachedAgent)});
  };
  local.report = worker::run_report;
}

}  // namespace hodei
