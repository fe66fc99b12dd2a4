#include "src/server/server.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/server/provisioning/factories.h"

namespace hodei::server {
namespace {

// Jobs that need them will fail one by one; whoever started the server with a wrong key should know at once.
void tell_of_foreign_secrets(store::Reader& reader, const Vault& vault) {
  const auto rows = reader.secrets("");
  if (!rows.ok()) return;
  const auto foreign =
      std::count_if(rows->begin(), rows->end(), [&vault](const auto& row) { return !vault.is_mine(row.sealed); });
  if (foreign == 0) return;
  journal(
      Level::Error, "server", foreign, " of ", rows->size(),
      " stored secrets were encrypted with another key: jobs that need "
      "them will fail with secret_error. Start the server with that key (secret_key_file or HODEI_SECRET_KEY), or set "
      "the secrets again");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::open(const ServerOptions& options) {
  std::unique_ptr<Server> server(new Server(options));
  RETURN_IF_ERROR(server->build());
  return server;
}

absl::Status Server::build() {
  ASSIGN_OR_RETURN(storage_, Storage::open(options_.data_dir, clock_, options_.disk_reserve));
  RETURN_IF_ERROR(open_vault());
  ASSIGN_OR_RETURN(files_, JobFiles::open(options_, *storage_, pools_.files, clock_));
  ASSIGN_OR_RETURN(telemetry_, Telemetry::open(options_, *storage_, connections_));
  const LoopAssembly::Ends ends{
      .connections = connections_,
      .logs = *files_,
      .durable_offset = [files = files_.get()](ExecutionId e) { return files->durable_offset(e); },
      .reads = pools_.reads,
      .metrics = telemetry_->metrics()};
  loop_ = std::make_unique<LoopAssembly>(*storage_, ends, clock_, options_.engine);
  server_status_ = std::make_unique<ServerStatus>(
      ServerStatus::Parts{loop_->loop(), files_->logs(), connections_, *telemetry_, storage_->room()});
  const auto forget = [&loop = loop_->loop()](core::ForgetJobs command, ReplyTo reply) {
    loop.post_bounded(std::move(command), std::move(reply));
  };
  sweeper_ = std::make_unique<JobSweeper>(*storage_->readers().background, forget, storage_->retention_clock(),
                                          options_.job_retention);
  return build_provisioner();
}

absl::Status Server::open_vault() {
  ASSIGN_OR_RETURN(
      const SecretKey key,
      find_key({.text = options_.secret_key, .file = options_.secret_key_file, .data_dir = options_.data_dir}));
  vault_ = std::make_unique<Vault>(key);
  tell_of_foreign_secrets(*storage_->readers().lists, *vault_);
  return absl::OkStatus();
}

absl::Status Server::build_provisioner() {
  ProvisionerSetup setup;
  setup.make = make_provider;
  ASSIGN_OR_RETURN(setup.installation.id, storage_->store().installation());
  set_installation(setup.installation.id);
  setup.installation.folder = std::filesystem::absolute(options_.data_dir).string() + "/providers";
  setup.installation.worker_binary = options_.worker_binary;
  setup.on_making = [&metrics = telemetry_->metrics()](const MakingEvent& event) { metrics.making(event); };
  const auto post = [&loop = loop_->loop()](core::Command command, ReplyTo reply, core::EnvelopePtr envelope) {
    loop.post(std::move(command), std::move(reply), std::move(envelope));
  };
  provisioner_ = std::make_unique<Provisioner>(post, clock_, std::move(setup));
  loop_->carrier().set_maker(provisioner_.get());
  return absl::OkStatus();
}

Server::~Server() { stop(); }

absl::Status Server::start() {
  server_status_->note_start(clock_.now().wall);
  RETURN_IF_ERROR(loop_->take_over(options_.address));
  files_->drop_inputs_of_finished_jobs();
  RETURN_IF_ERROR(storage_->start());
  files_->start();
  telemetry_->start();
  loop_->start();
  pools_.start();
  sweeper_->start();
  tick();
  return absl::OkStatus();
}

absl::Status Server::start_providers(const std::string& server_address, const std::vector<core::ProviderRow>& built_in,
                                     OpenWorkerPort open_port) {
  for (const core::ProviderRow& row : built_in) {
    std::promise<absl::Status> stored;
    loop_->loop().post(core::PutProvider{row, true},
                       [&stored](absl::StatusOr<core::Reply> reply) { stored.set_value(reply.status()); });
    const absl::Status done = stored.get_future().get();
    if (!done.ok() && !absl::IsAlreadyExists(done)) return done;
  }
  provisioner_->start(server_address, std::move(open_port));
  return absl::OkStatus();
}

void Server::begin_stop() {
  if (loop_ != nullptr) loop_->stop_time();
  connections_.end_all();
}

// A server that was built half way has started nothing.
void Server::stop() {
  if (server_status_ == nullptr || !server_status_->note_stop()) return;
  begin_stop();
  if (provisioner_ != nullptr) provisioner_->stop();
  sweeper_->stop();
  loop_->stop();
  pools_.stop();
  telemetry_->stop();
  files_->stop();
  storage_->stop();
}

void Server::tick() {
  files_->tick();
  storage_->tick();
  telemetry_->recorder().hold_back(storage_->room().is_low());
}

ServerParts Server::parts() {
  return {.options = options_,
          .clock = clock_,
          .storage = *storage_,
          .pools = pools_,
          .vault = *vault_,
          .files = *files_,
          .connections = connections_,
          .telemetry = *telemetry_,
          .provisioner = *provisioner_,
          .carrier = loop_->carrier(),
          .orders = loop_->orders(),
          .loop = loop_->loop(),
          .status = *server_status_};
}

}  // namespace hodei::server
