// A server without its doors: store, loop, logs, links and events, wired. The API adapters are built on this.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "src/base/time.h"
#include "src/server/artifacts/artifact_store.h"
#include "src/server/carrier.h"
#include "src/server/event_hub.h"
#include "src/server/heartbeats.h"
#include "src/server/input/job_inputs.h"
#include "src/server/job_sweeper.h"
#include "src/server/logs/log_hub.h"
#include "src/server/loop.h"
#include "src/server/metrics/measured.h"
#include "src/server/metrics/metrics_recorder.h"
#include "src/server/open_calls.h"
#include "src/server/order_writer.h"
#include "src/server/provisioning/provisioner.h"
#include "src/server/read_pool.h"
#include "src/server/refused_claims.h"
#include "src/server/retention_clock.h"
#include "src/server/secrets/vault.h"
#include "src/server/service_health.h"
#include "src/server/step_journal.h"
#include "src/server/system_state.h"
#include "src/server/tracing/span_exporter.h"
#include "src/server/worker_links.h"
#include "src/store/segments/segment_log_store.h"
#include "src/store/sqlite/sqlite_leadership.h"
#include "src/store/sqlite/sqlite_metrics_store.h"
#include "src/store/sqlite/sqlite_reader.h"
#include "src/store/sqlite/sqlite_store.h"

namespace hodei::server {

struct ServerOptions {
  std::string data_dir;
  std::string address;  // where workers and clients reach this server, for others that want to lead
  store::LogRetention log_retention;
  JobRetention job_retention;
  std::string secret_key;  // see KeySource
  std::string secret_key_file;
  Duration metrics_retention = std::chrono::hours(24 * 7);
  std::string otlp_endpoint;  // http(s)://host:port of a collector; empty: spans go nowhere
  ArtifactLimits artifacts;
  InputLimits inputs;
  core::EngineConfig engine;
  std::string worker_binary;  // the static worker, for providers; empty: none found
  // Room on the disk that is kept so that what runs can still be recorded: with less, submissions are refused, and
  // output of jobs and artifacts wait.
  uint64_t disk_reserve = uint64_t{64} << 20;
};

class Server final : private LogEnds {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> open(const ServerOptions& options);
  ~Server();

  absl::Status start();
  // The first step of a stop, before the doors are closed: nobody's silence counts any more, and every long call ends.
  void begin_stop();
  void stop();
  // Once the doors are open: providers make workers that come in through them. `built_in` are stored unless they are
  // there.
  absl::Status start_providers(const std::string& server_address, const std::vector<core::ProviderRow>& built_in,
                               OpenDoor open_door);

  // Before start(): makes the jobs that modules of the engine want. It outlives the loop.
  void set_preparer(JobPreparer* preparer) { carrier_->set_preparer(preparer); }

  Loop& loop() { return *loop_; }
  // For lists and whatever else may take long; on threads of reads() only.
  store::Reader& reader() { return *reader_; }
  // For single rows by their keys: what a submission or an order to a worker needs. No list can take its connections.
  store::Reader& lookups() { return *lookups_; }
  ReadPool& reads() { return reads_; }
  // Output of jobs and artifacts.
  ReadPool& files() { return files_; }
  LogHub& logs() { return *hub_; }
  ArtifactStore& artifacts() { return *artifacts_; }
  JobInputs& inputs() { return *inputs_; }
  WorkerLinks& links() { return links_; }
  OrderWriter& orders() { return orders_->writer; }
  Heartbeats& heartbeats() { return heartbeats_; }
  EventHub& events() { return events_; }
  OpenCalls& open_calls() { return open_calls_; }
  RefusedClaims& refused_claims() { return refused_claims_; }
  Provisioner& provisioner() { return *provisioner_; }
  const Vault& vault() const { return *vault_; }
  MetricsRecorder& recorder() { return *recorder_; }
  store::MetricsStore& samples() { return *samples_; }
  const Clock& clock() const { return clock_; }
  const ServerOptions& options() const { return options_; }
  WallTime started() const { return started_; }

  // About once a second: logs, disk room, artifacts that have expired.
  void tick();

  // RESOURCE_EXHAUSTED while the disk is nearly full.
  absl::Status check_room() const;
  SystemFacts facts(const core::SystemReport& report);
  std::vector<ServiceHealth> service_health();
  // For Prometheus; from any thread but the loop's.
  std::string metrics_text(const Snapshot& snapshot);

 private:
  explicit Server(const ServerOptions& options) : options_(options) {}
  absl::Status build();
  absl::Status build_provisioner();
  store::SegmentOptions segment_options() const;
  ArtifactLimits artifact_limits() const;
  void tell_of_foreign_secrets();
  void sweep_artifacts();
  void drop_inputs_of_finished_jobs();

  void job_finished(JobId job, uint32_t last_execution) override;
  void execution_ended(ExecutionId execution, int64_t log_bytes) override {
    hub_->execution_ended(execution, log_bytes);
  }
  void execution_lost(ExecutionId execution) override { hub_->execution_lost(execution); }

  // What orders to workers, and lines about them, need beside the loop.
  struct OrderParts {
    OrderFiller filler;
    OrderWriter writer{filler};
    StepJournal journal;
  };
  // The loop's state, and the store that it leads.
  struct LoopParts {
    explicit LoopParts(Server& server);
    MeasuredStore store;
    store::SqliteLeadership leadership;
    Tenure tenure;
    LoopCore core;
  };

  const ServerOptions options_;
  SystemClock clock_;
  std::unique_ptr<RetentionClock> retention_clock_;
  WallTime started_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<store::SqliteReader> reader_;
  std::unique_ptr<store::SqliteReader> lookups_;
  std::unique_ptr<store::SqliteReader> order_reader_;  // the threads that write orders
  std::unique_ptr<store::SqliteReader> background_;    // threads for which nobody waits
  ReadPool reads_{"reads", {}};
  ReadPool files_{"reads and writes of files", {}};
  std::unique_ptr<Vault> vault_;
  std::unique_ptr<store::SegmentLogStore> log_store_;
  std::unique_ptr<LogHub> hub_;
  std::unique_ptr<ArtifactStore> artifacts_;
  std::unique_ptr<JobInputs> inputs_;
  WorkerLinks links_;
  Heartbeats heartbeats_{clock_};
  EventHub events_;
  OpenCalls open_calls_;
  RefusedClaims refused_claims_;
  std::unique_ptr<OrderParts> orders_;
  std::unique_ptr<Carrier> carrier_;
  ServerMetrics metrics_;
  std::unique_ptr<store::SqliteMetricsStore> samples_;
  std::unique_ptr<MetricsRecorder> recorder_;
  std::unique_ptr<SpanExporter> exporter_;    // null: no endpoint
  std::unique_ptr<Provisioner> provisioner_;  // outlives the loop
  std::unique_ptr<MeasuredOutlet> measured_outlet_;
  std::unique_ptr<LoopParts> decider_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<JobSweeper> sweeper_;
  MonoTime next_sweep_{0};  // tick's own
  std::atomic<bool> disk_low_ = false;
  std::atomic<uint64_t> disk_free_ = 0;
  std::atomic<bool> stopping_ = false;
};

}  // namespace hodei::server
