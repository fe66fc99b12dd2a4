#include "src/server/server.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/base/journal.h"
#include "src/base/status.h"

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
        cat("data_dir: cannot make '", options.data_dir, "': ", error.message(), "; give another with --data-dir"));
  }
  chmod(options.data_dir.c_str(), 0700);
  std::unique_ptr<Server> server(new Server(options));
  RETURN_IF_ERROR(server->build());
  return server;
}

absl::Status Server::build() {
  store::SqliteOptions sqlite;
  sqlite.data_dir = options_.data_dir;
  ASSIGN_OR_RETURN(store_, store::SqliteStore::open(sqlite));
  ASSIGN_OR_RETURN(reader_, store::SqliteReader::open(sqlite));
  ASSIGN_OR_RETURN(log_store_, store::SegmentLogStore::open(options_.data_dir + "/logs"));
  ASSIGN_OR_RETURN(artifacts_, ArtifactStore::open(options_.data_dir + "/artifacts", options_.artifacts, clock_));
  LogHubLimits limits;
  limits.retention = options_.log_retention;
  hub_ = std::make_unique<LogHub>(*log_store_, ends_from(*reader_), clock_, limits);
  carrier_ = std::make_unique<Carrier>(links_, events_, static_cast<LogEnds&>(*this), *reader_);
  core_ = std::make_unique<LoopCore>(*store_, clock_, *carrier_, options_.engine);
  loop_ = std::make_unique<Loop>(*core_, clock_);
  return absl::OkStatus();
}

Server::~Server() { stop(); }

absl::Status Server::start() {
  started_ = clock_.now().wall;
  RETURN_IF_ERROR(core_->take_over());
  RETURN_IF_ERROR(store_->start());
  hub_->start();
  loop_->start();
  tick();
  return absl::OkStatus();
}

void Server::stop() {
  if (stopping_.exchange(true) || loop_ == nullptr) return;
  links_.close_all("the server is shutting down; come back in a moment");
  loop_->stop();
  hub_->stop();
  store_->stop();
}

void Server::tick() {
  hub_->tick();
  if (clock_.now().mono >= next_sweep_) sweep_artifacts();
  const absl::StatusOr<uint64_t> room = store_->free_bytes();
  disk_low_ = room.ok() && *room < options_.disk_reserve;
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
                                          options_.disk_reserve >> 20,
                                          " MiB left): no new jobs are taken; free some space and try again"));
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
  return facts;
}

}  // namespace hodei::server
