#include "src/server/server.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>

#include "src/base/journal.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/server/provisioning/factories.h"
#include "src/server/tracing/otlp_post.h"

namespace hodei::server {
namespace {

constexpr Duration kSweepEvery = 10s;

JobEnds ends_from(store::Reader& reader) {
  return [&reader](JobId job) -> absl::StatusOr<std::optional<JobEnd>> {
    const absl::StatusOr<store::JobView> view = reader.job(job);
    if (absl::IsNotFound(view.status())) return std::optional<JobEnd>();
    RETURN_IF_ERROR(view.status());
    JobEnd end;
    end.finished = core::is_terminal(view->head.state);
    end.last_execution = view->head.executions;
    end.finished_at = view->ended;
    if (view->head.past == nullptr) return std::optional<JobEnd>(end);
    ASSIGN_OR_RETURN(const std::vector<store::PrintedBytes> shelved, reader.printed(job));
    for (const store::PrintedBytes& one : shelved) end.printed.push_back({one.execution, one.bytes});
    for (const core::Execution& e : view->head.past->executions) {
      if (e.log_bytes) end.printed.push_back({e.number, *e.log_bytes});
    }
    return std::optional<JobEnd>(end);
  };
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::open(const ServerOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.data_dir, error);
  if (error) {
    return absl::InvalidArgumentError(
        cat("data_dir: cannot create '", options.data_dir, "': ", error.message(), "; choose another with --data-dir"));
  }
  chmod(options.data_dir.c_str(), 0700);
  std::unique_ptr<Server> server(new Server(options));
  RETURN_IF_ERROR(server->build());
  return server;
}

absl::Status Server::build() {
  // Before the store is opened, which writes to the folder.
  retention_clock_ = std::make_unique<RetentionClock>(options_.data_dir, clock_, RetentionClock::this_boot());
  store::SqliteOptions sqlite;
  sqlite.data_dir = options_.data_dir;
  ASSIGN_OR_RETURN(store_, store::SqliteStore::open(sqlite));
  // One more than there are threads for what takes long, so that a single job is found at once meanwhile.
  ASSIGN_OR_RETURN(reader_, store::SqliteReader::open(sqlite, store::kMaxReadConnections + 1));
  ASSIGN_OR_RETURN(lookups_, store::SqliteReader::open(sqlite));
  ASSIGN_OR_RETURN(order_reader_, store::SqliteReader::open(sqlite, OrderWriter::kThreads));
  ASSIGN_OR_RETURN(background_, store::SqliteReader::open(sqlite));
  ASSIGN_OR_RETURN(
      const SecretKey key,
      find_key({.text = options_.secret_key, .file = options_.secret_key_file, .data_dir = options_.data_dir}));
  vault_ = std::make_unique<Vault>(key);
  tell_of_foreign_secrets();
  ASSIGN_OR_RETURN(log_store_, store::SegmentLogStore::open(options_.data_dir + "/logs", segment_options()));
  ASSIGN_OR_RETURN(artifacts_,
                   ArtifactStore::open(options_.data_dir + "/artifacts", artifact_limits(), *retention_clock_));
  InputLimits input_limits = options_.inputs;
  input_limits.disk_reserve = options_.disk_reserve;
  ASSIGN_OR_RETURN(inputs_, JobInputs::open(options_.data_dir + "/stdin", input_limits, clock_));
  LogHubLimits limits;
  limits.retention = options_.log_retention;
  hub_ = std::make_unique<LogHub>(*log_store_, ends_from(*background_), clock_, limits, retention_clock_.get());
  carrier_ = std::make_unique<Carrier>(links_, events_, static_cast<LogEnds&>(*this));
  const auto durable_offset = [this](ExecutionId execution) { return log_store_->extent(execution).next_offset; };
  orders_.reset(new OrderParts{.filler = {*order_reader_, durable_offset}, .journal = {*lookups_, reads_}});
  carrier_->set_journal(&orders_->journal);
  ASSIGN_OR_RETURN(samples_, store::SqliteMetricsStore::open(options_.data_dir));
  recorder_ = std::make_unique<MetricsRecorder>(*samples_, *retention_clock_, options_.metrics_retention, [this] {
    ToWorker message;
    message.beat = MetricsRecorder::kWatchedBeat;
    links_.send_all(message);
  });
  if (!options_.otlp_endpoint.empty()) {
    ASSIGN_OR_RETURN(SpanExporter::Post post, otlp_post(options_.otlp_endpoint));
    exporter_ = std::make_unique<SpanExporter>(events_, *background_, std::move(post));
  }
  measured_outlet_ = std::make_unique<MeasuredOutlet>(*carrier_, metrics_);
  decider_ = std::make_unique<LoopParts>(*this);
  loop_ = std::make_unique<Loop>(decider_->core, clock_);
  const auto forget = [this](core::ForgetJobs command, ReplyTo reply) {
    loop_->post_bounded(std::move(command), std::move(reply));
  };
  sweeper_ = std::make_unique<JobSweeper>(*background_, forget, *retention_clock_, options_.job_retention);
  return build_provisioner();
}

Server::LoopParts::LoopParts(Server& server)
    : store(*server.store_, server.clock_, server.metrics_),
      leadership(*server.store_),
      tenure(store, leadership, server.clock_, server.options_.engine),
      core(tenure, server.clock_, *server.measured_outlet_, server.heartbeats_) {
  tenure.set_retention_clock(server.retention_clock_.get());
  tenure.set_address(server.options_.address);
}

ArtifactLimits Server::artifact_limits() const {
  ArtifactLimits limits = options_.artifacts;
  limits.disk_reserve = static_cast<int64_t>(options_.disk_reserve);
  return limits;
}

store::SegmentOptions Server::segment_options() const {
  return {.disk_reserve = static_cast<int64_t>(options_.disk_reserve), .clock = retention_clock_.get()};
}

absl::Status Server::build_provisioner() {
  ProvisionerSetup setup;
  setup.make = make_provider;
  ASSIGN_OR_RETURN(setup.installation.id, store_->installation());
  set_installation(setup.installation.id);
  setup.installation.folder = std::filesystem::absolute(options_.data_dir).string() + "/providers";
  setup.installation.worker_binary = options_.worker_binary;
  setup.on_making = [this](const MakingEvent& event) { metrics_.making(event); };
  const auto post = [this](core::Command command, ReplyTo reply, core::EnvelopePtr envelope) {
    loop_->post(std::move(command), std::move(reply), std::move(envelope));
  };
  provisioner_ = std::make_unique<Provisioner>(post, clock_, std::move(setup));
  carrier_->set_maker(provisioner_.get());
  return absl::OkStatus();
}

absl::Status Server::start_providers(const std::string& server_address, const std::vector<core::ProviderRow>& built_in,
                                     OpenDoor open_door) {
  for (const core::ProviderRow& row : built_in) {
    std::promise<absl::Status> stored;
    loop_->post(core::PutProvider{row, true},
                [&stored](absl::StatusOr<core::Reply> reply) { stored.set_value(reply.status()); });
    const absl::Status done = stored.get_future().get();
    if (!done.ok() && !absl::IsAlreadyExists(done)) return done;
  }
  provisioner_->start(server_address, std::move(open_door));
  return absl::OkStatus();
}

// Jobs that need them will fail one by one; whoever started the server with a wrong key should know at once.
void Server::tell_of_foreign_secrets() {
  const auto rows = reader_->secrets("");
  if (!rows.ok()) return;
  const auto foreign =
      std::count_if(rows->begin(), rows->end(), [this](const auto& row) { return !vault_->is_mine(row.sealed); });
  if (foreign == 0) return;
  journal(
      Level::Error, "server", foreign, " of ", rows->size(),
      " stored secrets were encrypted with another key: jobs that need "
      "them will fail with secret_error. Start the server with that key (secret_key_file or HODEI_SECRET_KEY), or set "
      "the secrets again");
}

Server::~Server() { stop(); }

absl::Status Server::start() {
  started_ = clock_.now().wall;
  RETURN_IF_ERROR(decider_->core.take_over());
  drop_inputs_of_finished_jobs();
  RETURN_IF_ERROR(store_->start());
  hub_->start();
  recorder_->start();
  if (exporter_ != nullptr) exporter_->start();
  orders_->writer.start();
  loop_->start();
  reads_.start();
  files_.start();
  sweeper_->start();
  tick();
  return absl::OkStatus();
}

void Server::begin_stop() {
  if (decider_ != nullptr) decider_->core.stop_time();
  open_calls_.end_all();
  links_.close_all("the server is shutting down; try again in a moment");
}

void Server::stop() {
  if (stopping_.exchange(true) || loop_ == nullptr) return;
  begin_stop();
  if (provisioner_ != nullptr) provisioner_->stop();
  sweeper_->stop();
  loop_->stop();
  orders_->writer.stop();
  reads_.stop();
  files_.stop();
  if (exporter_ != nullptr) exporter_->stop();
  recorder_->stop();
  hub_->stop();
  store_->stop();
}

// On the loop's thread: the disk is for others.
void Server::job_finished(JobId job, uint32_t last_execution) {
  hub_->job_finished(job, last_execution);
  if (auto input = inputs_->let_go(job)) files_.post_always([input = std::move(input)] { input->remove(); });
}

void Server::drop_inputs_of_finished_jobs() {
  inputs_->keep_only([this](JobId job) {
    const absl::StatusOr<store::JobView> view = lookups_->job(job);
    return view.ok() ? !core::is_terminal(view->head.state) : !absl::IsNotFound(view.status());
  });
}

void Server::tick() {
  hub_->tick();
  inputs_->tick();
  if (clock_.now().mono >= next_sweep_) {
    sweep_artifacts();
    retention_clock_->save();
  }
  const absl::StatusOr<uint64_t> room = store_->free_bytes();
  disk_low_ = room.ok() && *room < options_.disk_reserve;
  recorder_->hold_back(disk_low_);
  disk_free_ = room.value_or(0);
}

void Server::sweep_artifacts() {
  next_sweep_ = clock_.now().mono + kSweepEvery;
  if (const absl::StatusOr<int> swept = artifacts_->sweep(); !swept.ok()) {
    journal(Level::Warn, "server", "artifacts: ", std::string(swept.status().message()));
  }
}

absl::Status Server::check_room() const {
  if (!disk_low_) return absl::OkStatus();
  return absl::ResourceExhaustedError(cat("the disk of the data folder is nearly full (less than ",
                                          size_text(options_.disk_reserve),
                                          " left): no new jobs are accepted; free some space and try again"));
}

std::string Server::metrics_text(const Snapshot& snapshot) {
  Readings readings;
  readings.loop = snapshot;
  readings.health = loop_->health();
  readings.logs = hub_->stats();
  readings.refused_claims = refused_claims_.counts();
  readings.refused_claims[static_cast<size_t>(Claim::LogAfterEnd)] += readings.logs.after_end;
  readings.state = assess(facts(snapshot.system)).state;
  readings.disk_free_bytes = disk_free_;
  readings.worker_streams = links_.size();
  readings.samples_dropped = recorder_->dropped();
  if (exporter_ != nullptr) {
    readings.spans_exported = exporter_->exported();
    readings.spans_dropped = exporter_->dropped();
  }
  return metrics_.text(readings);
}

std::vector<ServiceHealth> Server::service_health() {
  const LoopHealth health = loop_->health();
  return assess_services({.stopping = stopping_,
                          .loaded = health.loaded,
                          .commits = health.trouble.ok(),
                          .trouble = std::string(health.trouble.message()),
                          .logs_stuck = hub_->stats().is_stuck,
                          .disk_low = disk_low_,
                          .samples_held = disk_low_});
}

SystemFacts Server::facts(const core::SystemReport& report) {
  const LoopHealth health = loop_->health();
  SystemFacts facts;
  facts.loaded = health.loaded;
  facts.stopping = stopping_;
  facts.commits = health.trouble.ok();
  facts.trouble = std::string(health.trouble.message());
  facts.slowest_commit = health.slowest_turn;
  facts.active = report.active;
  facts.workers = report.workers;
  facts.unhealthy = report.unhealthy;
  facts.provider_trouble = report.provider_trouble;
  return facts;
}

}  // namespace hodei::server
