// MetricsService.
#pragma once

#include "hodei/v1/metrics_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

class MetricsService final : public v1::MetricsService::CallbackService {
 public:
  explicit MetricsService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  grpc::ServerWriteReactor<v1::MetricSample>* StreamMetrics(Context* c, const v1::StreamMetricsRequest* in) override;
  grpc::ServerUnaryReactor* GetAggregatedMetrics(Context* c, const v1::GetAggregatedMetricsRequest* in,
                                                 v1::GetAggregatedMetricsResponse* out) override;
  grpc::ServerUnaryReactor* GetTimeSeriesMetrics(Context* c, const v1::GetTimeSeriesMetricsRequest* in,
                                                 v1::GetTimeSeriesMetricsResponse* out) override;

 private:
  absl::Status aggregate(const v1::GetAggregatedMetricsRequest& in, v1::GetAggregatedMetricsResponse* out);
  absl::Status time_series(const v1::GetTimeSeriesMetricsRequest& in, v1::GetTimeSeriesMetricsResponse* out);

  server::Server& server_;
};

}  // namespace hodei::api
