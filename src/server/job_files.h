// The files of jobs: what they print, what they are given on standard input, and artifacts.
#pragma once

#include <memory>
#include <string>

#include "src/base/time.h"
#include "src/server/artifacts/artifact_store.h"
#include "src/server/carrier.h"
#include "src/server/input/job_inputs.h"
#include "src/server/logs/log_hub.h"
#include "src/server/read_pool.h"
#include "src/server/server_options.h"
#include "src/server/storage.h"
#include "src/store/segments/segment_log_store.h"

namespace hodei::server {

class JobFiles final : public LogEnds {
 public:
  // Storage, pool and clock outlive it. Files are removed on threads of `pool`.
  static absl::StatusOr<std::unique_ptr<JobFiles>> open(const ServerOptions& options, const Storage& storage,
                                                        ReadPool& pool, const Clock& clock);

  // Before the loop starts: a server that died could not remove the inputs of jobs that have ended.
  void drop_inputs_of_finished_jobs();
  void start() { hub_->start(); }
  void stop() { hub_->stop(); }
  // About once a second: output that could not be written, inputs whose client is away, artifacts that have expired.
  void tick();

  LogHub& logs() { return *hub_; }
  ArtifactStore& artifacts() { return *artifacts_; }
  JobInputs& inputs() { return *inputs_; }

  // Of LogEnds, on the loop's thread: the disk is for others.
  void job_finished(JobId job, uint32_t last_execution) override;
  void execution_ended(ExecutionId execution, int64_t log_bytes) override {
    hub_->execution_ended(execution, log_bytes);
  }
  void execution_lost(ExecutionId execution) override { hub_->execution_lost(execution); }
  // For threads that may wait for the disk.
  int64_t durable_offset(ExecutionId execution) const { return log_store_->extent(execution).next_offset; }

 private:
  JobFiles(const Storage& storage, ReadPool& pool, const Clock& clock)
      : storage_(storage), pool_(pool), clock_(clock) {}
  void sweep_artifacts();

  const Storage& storage_;
  ReadPool& pool_;
  const Clock& clock_;
  std::unique_ptr<store::SegmentLogStore> log_store_;
  std::unique_ptr<LogHub> hub_;
  std::unique_ptr<ArtifactStore> artifacts_;
  std::unique_ptr<JobInputs> inputs_;
  MonoTime next_sweep_{0};  // tick's own
};

}  // namespace hodei::server
