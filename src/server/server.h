// A server without its transports: its parts, wired, with the order in which they start and stop. Transports and calls
// get the parts that they need (server_parts.h); only the entry point of the program and tests include this file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/server/job_files.h"
#include "src/server/job_sweeper.h"
#include "src/server/loop_assembly.h"
#include "src/server/provisioning/provisioner.h"
#include "src/server/secrets/vault.h"
#include "src/server/server_options.h"
#include "src/server/server_parts.h"
#include "src/server/server_status.h"
#include "src/server/storage.h"
#include "src/server/telemetry.h"
#include "src/server/work_pools.h"

namespace hodei::server {

class Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> open(const ServerOptions& options);
  ~Server();

  absl::Status start();
  // The first step of a stop, before the transports are closed: nobody's silence counts any more, and every long call
  // ends.
  void begin_stop();
  void stop();
  // Once the transports are open: providers make workers that come in through them. `built_in` are stored unless they
  // are there.
  absl::Status start_providers(const std::string& server_address, const std::vector<core::ProviderRow>& built_in,
                               OpenWorkerPort open_port);
  // About once a second: files of jobs, disk room, the clock of retention.
  void tick();

  // They live as long as the server.
  ServerParts parts();

 private:
  explicit Server(const ServerOptions& options) : options_(options) {}
  absl::Status build();
  absl::Status open_vault();
  absl::Status build_provisioner();

  // In the order of their dependencies.
  const ServerOptions options_;
  SystemClock clock_;
  std::unique_ptr<Storage> storage_;
  WorkPools pools_;
  std::unique_ptr<Vault> vault_;
  std::unique_ptr<JobFiles> files_;
  Connections connections_{clock_};
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<Provisioner> provisioner_;  // outlives the loop
  std::unique_ptr<LoopAssembly> loop_;
  std::unique_ptr<ServerStatus> server_status_;
  std::unique_ptr<JobSweeper> sweeper_;
};

}  // namespace hodei::server
