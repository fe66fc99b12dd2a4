// MetricsService: the calls about how busy workers and jobs are, and their lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/metrics_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/api/calls/source.h"
#include "src/server/metrics/metrics_recorder.h"
#include "src/store/metrics_store.h"

namespace hodei::api {

struct MetricsPorts {
  Commands& commands;
  server::MetricsRecorder& recorder;
  store::MetricsStore& samples;
  Stored stored;
};

SourceOr<v1::MetricSample> stream_metrics(const MetricsPorts& p, const Call& call, const v1::StreamMetricsRequest& in);
void get_aggregated_metrics(const MetricsPorts& p, const Call& call, const v1::GetAggregatedMetricsRequest& in,
                            Answer<v1::GetAggregatedMetricsResponse> answer);
void get_time_series_metrics(const MetricsPorts& p, const Call& call, const v1::GetTimeSeriesMetricsRequest& in,
                             Answer<v1::GetTimeSeriesMetricsResponse> answer);

struct MetricsCalls {
  static constexpr std::string_view service = "hodei.v1.MetricsService";
  using Ports = MetricsPorts;
  static Ports ports(const ServerPorts& s) { return {s.commands, s.recorder, s.samples, s.stored}; }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.source({"StreamMetrics", Who::Viewer, By::Events, Get, "/api/v1/metrics:stream"}, stream_metrics);
    v.unary({"GetAggregatedMetrics", Who::Viewer, By::Store, Get, "/api/v1/metrics"}, get_aggregated_metrics);
    v.unary({"GetTimeSeriesMetrics", Who::Viewer, By::Store, Get, "/api/v1/metrics/series"}, get_time_series_metrics);
  }
};

}  // namespace hodei::api
