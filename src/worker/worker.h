// The worker as other folders see it: two entry functions, one per process.
//
// `hodei agent …` (what people and providers start) calls run_worker. It becomes the supervisor and starts the agent as
// a child process by running its own binary again with `agent_argv`, which main() must lead to run_attached_agent:
//
//   int main(int argc, char** argv) {
//     if (argc == 2 && argv[1] == std::string_view("attached-agent")) return hodei::worker::run_attached_agent();
//     …
//     return hodei::worker::run_worker(options, {"hodei", "attached-agent"});
//
// Nothing else is handed over on the command line: options travel over the socket between the two, the token included.
// main() must not have started threads or gRPC before run_worker.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::worker {

struct TaintOption {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
};

struct WorkerOptions {
  std::vector<std::string> servers;  // host:port or http://host:port; tried in turn
  std::string token;                 // the OTP; not needed when the state folder holds a session
  std::string worker_id;             // empty: the one in the state folder, else made from the host name
  std::string name;                  // empty: the worker id
  std::string state_dir = "/var/lib/hodei/worker";
  uint32_t slots = 0;  // 0: four per cpu
  std::map<std::string, std::string> labels;
  std::vector<TaintOption> taints;
  std::vector<std::string> capabilities;  // besides shell and script
  std::string pool;
  std::string provider;               // who made this worker; empty: by hand
  std::string isolation = "process";  // process, container, hardware
  std::string image;                  // the image it was made from
  int64_t cpu_milli = 0;              // what it offers; 0: what the machine has
  int64_t memory_mb = 0;
  int64_t gpus = 0;
  bool cgroups = true;           // use them where allowed
  bool only_cgroups_v1 = false;  // not version 2, even where it is
  std::string cgroup_root = "/sys/fs/cgroup";
  uint64_t job_processes = 4096;  // of one execution, threads included; 0: no limit
  int64_t job_log_bytes = 0;      // output of one execution that is kept; 0: no limit but the job's own
  uint32_t spawn_threads = 2;
  size_t ring_bytes = 1 << 20;  // output buffered per execution
  // Output is sent when an execution has so many lines, or after so long, whichever comes first.
  uint32_t log_batch_lines = 100;
  Duration log_batch_interval = 100ms;
  std::string metrics_listen;  // host:port of the agent's /metrics; `off` or empty: none
  Duration stop_grace = 30s;   // for what runs when the worker is stopped, before it is ended
  // Ends when nothing runs and no server has answered for this long, or when the state folder is gone. 0: never.
  Duration leave_after{0};
  Duration grace = 5s;  // from SIGTERM to SIGKILL when a job names none
};

// Takes HODEI_SERVER (comma-separated), HODEI_TOKEN and HODEI_METRICS_LISTEN where the options name none.
void apply_environment(WorkerOptions& options);

// The supervisor. Returns the process's exit code: 0 after SIGTERM, SIGINT or a drain; 1 when it could not start;
// 3 when the server turned the worker away for good.
int run_worker(const WorkerOptions& options, const std::vector<std::string>& agent_argv);

// The agent, started by the supervisor only.
int run_attached_agent();

}  // namespace hodei::worker
