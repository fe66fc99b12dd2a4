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

#include <string>
#include <vector>

#include "src/worker/protocol/worker_options.h"

namespace hodei::worker {

// Takes HODEI_SERVER (comma-separated), HODEI_TOKEN and HODEI_METRICS_LISTEN where the options name none.
void apply_environment(WorkerOptions& options);

// The supervisor. Returns the process's exit code: 0 after SIGTERM, SIGINT or a drain; 1 when it could not start;
// 3 when the server turned the worker away for good.
int run_worker(const WorkerOptions& options, const std::vector<std::string>& agent_argv);

// The agent, started by the supervisor only.
int run_attached_agent();

}  // namespace hodei::worker
