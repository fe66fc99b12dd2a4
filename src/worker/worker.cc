#include "src/worker/worker.h"

#include <fcntl.h>

#include <cstdio>
#include <cstdlib>

#include "src/base/core_dumps.h"
#include "src/base/printable.h"
#include "src/base/text.h"
#include "src/worker/agent/agent.h"
#include "src/worker/supervisor/agent_launcher.h"
#include "src/worker/supervisor/state_folder.h"
#include "src/worker/supervisor/supervisor.h"
#include "src/worker/system/first_process.h"

namespace hodei::worker {
namespace {

int refuse(const absl::Status& why) {
  fmt::print(stderr, "hodei: the worker cannot start: {}\n", printable_lines(std::string(why.message())));
  return 1;
}

// No server lets it in, so none is asked.
absl::Status no_way_in(const WorkerOptions& options) {
  return absl::UnauthenticatedError(
      cat("it has no token, and its state folder ", options.state_dir,
          " holds no session of an earlier start. Create a token with `hodei otp create` (it is valid once, for a few "
          "minutes), and start the worker with HODEI_TOKEN set to it"));
}

}  // namespace

void apply_environment(WorkerOptions& options) {
  if (const char* servers = std::getenv("HODEI_SERVER"); options.servers.empty() && servers != nullptr) {
    std::string_view rest = servers;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      if (comma != 0) options.servers.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }
  if (options.servers.empty()) options.servers.emplace_back("http://localhost:50051");
  if (const char* token = std::getenv("HODEI_TOKEN"); options.token.empty() && token != nullptr) options.token = token;
  if (const char* metrics = std::getenv("HODEI_METRICS_LISTEN"); options.metrics_listen.empty() && metrics != nullptr) {
    options.metrics_listen = metrics;
  }
}

int run_worker(const WorkerOptions& given, const std::vector<std::string>& agent_argv) {
  forbid_core_dumps(FoundBy::Environment);
  close_inherited_descriptors();
  WorkerOptions options = given;
  apply_environment(options);
  absl::StatusOr<StateFolder> state = StateFolder::open(options.state_dir);
  if (!state.ok()) return refuse(state.status());
  absl::StatusOr<std::string> id = state->settle_worker_id(options.worker_id);
  if (!id.ok()) return refuse(id.status());
  options.worker_id = *id;
  if (options.token.empty() && state->session().empty()) return refuse(no_way_in(options));
  ProcessLauncher launcher(agent_argv, state->mark());
  const SystemClock clock;
  Supervisor supervisor(options, *state, launcher, clock);
  if (absl::Status started = supervisor.start(); !started.ok()) return refuse(started);
  return supervisor.run();
}

int run_attached_agent() {
  const char* number = std::getenv(kAttachVariable);
  if (number == nullptr) {
    fmt::print(stderr, "hodei: error: this command is internal to the worker; use `hodei agent`\n");
    return 2;
  }
  forbid_core_dumps(FoundBy::Environment);
  const int socket = std::atoi(number);
  close_inherited_descriptors(socket);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  const SystemClock clock;
  // Everything that matters is with the supervisor or the server; gRPC's threads need no farewell.
  std::_Exit(run_agent(Fd(socket), clock));
}

}  // namespace hodei::worker
