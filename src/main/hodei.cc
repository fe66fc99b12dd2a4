// The `hodei` binary: wires the command line to the server and the worker.
#include "src/base/version.h"
#include "src/cli/cli.h"
#include "src/main/serve.h"
#include "src/main/worker_start.h"

int main(int argc, char** argv) {
  hodei::quiet_libraries();
  int exit_code = 0;
  if (hodei::was_attached_agent(argc, argv, exit_code)) return exit_code;
  hodei::cli::LocalCommands local;
  local.version = hodei::kVersion;
  local.server = hodei::run_server;
  local.dev = hodei::run_dev;
  hodei::add_worker_commands(local, "hodei");
  return hodei::cli::run_cli(argc, argv, local);
}
