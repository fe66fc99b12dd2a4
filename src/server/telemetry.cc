#include "src/server/telemetry.h"

#include <utility>

#include "src/base/status.h"
#include "src/server/tracing/otlp_post.h"

namespace hodei::server {

absl::StatusOr<std::unique_ptr<Telemetry>> Telemetry::open(const ServerOptions& options, const Storage& storage,
                                                           Connections& connections) {
  std::unique_ptr<Telemetry> telemetry(new Telemetry());
  ASSIGN_OR_RETURN(telemetry->samples_, store::SqliteMetricsStore::open(options.data_dir));
  telemetry->recorder_ = std::make_unique<MetricsRecorder>(*telemetry->samples_, storage.retention_clock(),
                                                           options.metrics_retention, [&links = connections.links] {
                                                             ToWorker message;
                                                             message.beat = MetricsRecorder::kWatchedBeat;
                                                             links.send_all(message);
                                                           });
  if (!options.otlp_endpoint.empty()) {
    ASSIGN_OR_RETURN(SpanExporter::Post post, otlp_post(options.otlp_endpoint));
    telemetry->exporter_ =
        std::make_unique<SpanExporter>(connections.events, *storage.readers().background, std::move(post));
  }
  return telemetry;
}

void Telemetry::start() {
  recorder_->start();
  if (exporter_ != nullptr) exporter_->start();
}

void Telemetry::stop() {
  if (exporter_ != nullptr) exporter_->stop();
  recorder_->stop();
}

void Telemetry::read(Readings& readings) const {
  readings.samples_dropped = recorder_->dropped();
  if (exporter_ == nullptr) return;
  readings.spans_exported = exporter_->exported();
  readings.spans_dropped = exporter_->dropped();
}

}  // namespace hodei::server
