#include "src/server/job_files.h"

#include <optional>
#include <utility>
#include <vector>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/server/logs/job_ends.h"

namespace hodei::server {
namespace {

constexpr Duration kSweepArtifactsEvery = 10s;

}  // namespace

absl::StatusOr<std::unique_ptr<JobFiles>> JobFiles::open(const ServerOptions& options, const Storage& storage,
                                                         ReadPool& pool, const Clock& clock) {
  std::unique_ptr<JobFiles> files(new JobFiles(storage, pool, clock));
  const RetentionClock& retention = storage.retention_clock();
  const auto reserve = static_cast<int64_t>(options.disk_reserve);
  ASSIGN_OR_RETURN(files->log_store_, store::SegmentLogStore::open(options.data_dir + "/logs",
                                                                   {.disk_reserve = reserve, .clock = &retention}));
  ArtifactLimits artifacts = options.artifacts;
  artifacts.disk_reserve = reserve;
  ASSIGN_OR_RETURN(files->artifacts_, ArtifactStore::open(options.data_dir + "/artifacts", artifacts, retention));
  InputLimits inputs = options.inputs;
  inputs.disk_reserve = options.disk_reserve;
  ASSIGN_OR_RETURN(files->inputs_, JobInputs::open(options.data_dir + "/stdin", inputs, clock));
  LogHubLimits limits;
  limits.retention = options.log_retention;
  files->hub_ = std::make_unique<LogHub>(*files->log_store_, job_ends_from(*storage.readers().background), clock,
                                         limits, &retention);
  return files;
}

void JobFiles::drop_inputs_of_finished_jobs() {
  inputs_->keep_only([this](JobId job) {
    const absl::StatusOr<store::JobView> view = storage_.readers().lookups->job(job);
    return view.ok() ? !core::is_terminal(view->head.state) : !absl::IsNotFound(view.status());
  });
}

void JobFiles::job_finished(JobId job, uint32_t last_execution) {
  hub_->job_finished(job, last_execution);
  if (auto input = inputs_->let_go(job)) pool_.post_always([input = std::move(input)] { input->remove(); });
}

void JobFiles::tick() {
  hub_->tick();
  inputs_->tick();
  if (clock_.now().mono >= next_sweep_) sweep_artifacts();
}

void JobFiles::sweep_artifacts() {
  next_sweep_ = clock_.now().mono + kSweepArtifactsEvery;
  if (const absl::StatusOr<int> swept = artifacts_->sweep(); !swept.ok()) {
    journal(Level::Warn, "server", "artifacts: ", std::string(swept.status().message()));
  }
}

}  // namespace hodei::server
