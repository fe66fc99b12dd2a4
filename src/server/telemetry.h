// What a server tells of itself and of its jobs: metrics for Prometheus, samples of workers and jobs, spans.
#pragma once

#include <memory>

#include "src/server/connections.h"
#include "src/server/metrics/metrics_recorder.h"
#include "src/server/metrics/server_metrics.h"
#include "src/server/server_options.h"
#include "src/server/storage.h"
#include "src/server/tracing/span_exporter.h"
#include "src/store/sqlite/sqlite_metrics_store.h"

namespace hodei::server {

class Telemetry {
 public:
  // Storage and connections outlive it.
  static absl::StatusOr<std::unique_ptr<Telemetry>> open(const ServerOptions& options, const Storage& storage,
                                                         Connections& connections);
  void start();
  void stop();

  ServerMetrics& metrics() { return metrics_; }
  MetricsRecorder& recorder() { return *recorder_; }
  store::MetricsStore& samples() { return *samples_; }
  // What samples and spans count.
  void read(Readings& readings) const;

 private:
  Telemetry() = default;

  ServerMetrics metrics_;
  std::unique_ptr<store::SqliteMetricsStore> samples_;
  std::unique_ptr<MetricsRecorder> recorder_;
  std::unique_ptr<SpanExporter> exporter_;  // null: no endpoint
};

}  // namespace hodei::server
