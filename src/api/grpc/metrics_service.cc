#include "src/api/grpc/metrics_service.h"

#include <mutex>

#include "src/api/grpc/metric_query.h"
#include "src/api/grpc/queued_writer.h"
#include "src/api/grpc/read_call.h"
#include "src/base/status.h"
#include "src/server/metrics/aggregate.h"

namespace hodei::api {
namespace {

constexpr int64_t kDefaultSteps = 60;
constexpr Duration kShortestStep = 1s;

using Samples = QueuedWriter<v1::MetricSample>;

// A watch that may end before it began: the client can be gone by then.
class SampleWatch {
 public:
  template <class Tell>
  void begin(server::MetricsRecorder& recorder, Tell tell) {
    const std::lock_guard lock(mutex_);
    if (!ended_) number_ = recorder.watch(std::move(tell));
  }
  void end(server::MetricsRecorder& recorder) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (number_ != 0) recorder.unwatch(number_);
  }

 private:
  std::mutex mutex_;
  bool ended_ = false;
  uint64_t number_ = 0;
};

using GroupValues = std::array<std::vector<double>, server::kSeries>;

void fill(const std::string& key, GroupValues& values, v1::MetricGroup* out) {
  out->set_key(key);
  out->set_samples(static_cast<int64_t>(values[0].size()));
  for (size_t i = 0; i < server::kSeries; ++i) {
    const server::Aggregate a = server::aggregate(values[i]);
    v1::MetricAggregate* one = out->add_aggregates();
    one->set_series(std::string(server::kSeriesNames[i]));
    one->set_avg(a.avg);
    one->set_min(a.min);
    one->set_max(a.max);
    one->set_p50(a.p50);
    one->set_p95(a.p95);
    one->set_p99(a.p99);
  }
}

// What a sample counts for.
std::string key_of(const store::MetricSample& sample, const v1::GetAggregatedMetricsRequest& in,
                   const WorkerLabels& labels) {
  if (in.group_by() == v1::GetAggregatedMetricsRequest::worker) return sample.worker.str();
  if (in.group_by() != v1::GetAggregatedMetricsRequest::label) return {};
  const auto worker = labels.find(sample.worker);
  if (worker == labels.end()) return {};
  const auto value = worker->second.find(in.label_key());
  return value == worker->second.end() ? std::string() : value->second;
}

absl::StatusOr<Duration> step_of(int64_t step_ms, const store::MetricQuery& query) {
  const Duration span = query.until - query.from;
  if (step_ms == 0) return std::max(kShortestStep, span / kDefaultSteps);
  const Duration step = std::chrono::milliseconds(step_ms);
  if (step_ms < 0 || step < kShortestStep)
    return bad_field("step_ms", "must be at least 1000 (0: the span in 60 steps), not ", step_ms);
  if (span / step > kMaxMetricSteps)
    return bad_field("step_ms", "results in more than ", kMaxMetricSteps,
                     " steps; use a longer step or a shorter span");
  return step;
}

}  // namespace

grpc::ServerWriteReactor<v1::MetricSample>* MetricsService::StreamMetrics(Context*,
                                                                          const v1::StreamMetricsRequest* in) {
  auto watch = std::make_shared<SampleWatch>();
  auto writer = std::make_shared<Samples>(server_.open_calls(), [this, watch] { watch->end(server_.recorder()); });
  auto* reactor = writer->reactor();
  // Which workers have the labels, the loop knows: somebody has to wait for it.
  const absl::Status taken = server_.reads().post([this, watch, writer, request = *in] {
    const absl::StatusOr<MetricChoice> choice = choice_of(server_, request.filter());
    if (!choice.ok()) return writer->close(to_grpc(choice.status()));
    watch->begin(server_.recorder(),
                 [writer, choice = *choice, jobs = request.jobs()](const std::vector<store::MetricSample>& samples) {
                   for (const store::MetricSample& sample : samples) {
                     if (!choice.has(sample, jobs)) continue;
                     v1::MetricSample message;
                     to_proto(sample, &message);
                     writer->push(std::move(message));
                   }
                 });
  });
  if (!taken.ok()) writer->close(to_grpc(taken));
  return reactor;
}

grpc::ServerUnaryReactor* MetricsService::GetAggregatedMetrics(Context* c, const v1::GetAggregatedMetricsRequest* in,
                                                               v1::GetAggregatedMetricsResponse* out) {
  return read(server_, *c, kLong, [this, in, out](const store::ReadLimit&) { return aggregate(*in, out); });
}

grpc::ServerUnaryReactor* MetricsService::GetTimeSeriesMetrics(Context* c, const v1::GetTimeSeriesMetricsRequest* in,
                                                               v1::GetTimeSeriesMetricsResponse* out) {
  return read(server_, *c, kLong, [this, in, out](const store::ReadLimit&) { return time_series(*in, out); });
}

absl::Status MetricsService::aggregate(const v1::GetAggregatedMetricsRequest& in,
                                       v1::GetAggregatedMetricsResponse* out) {
  const bool by_label = in.group_by() == v1::GetAggregatedMetricsRequest::label;
  if (by_label && in.label_key().empty()) return bad_field("label_key", "is required to group by a label");
  ASSIGN_OR_RETURN(const MetricChoice choice, choice_of(server_, in.filter()));
  ASSIGN_OR_RETURN(const store::MetricQuery query, query_of(choice, in.span(), server_.clock().now().wall));
  WorkerLabels labels;
  if (by_label) {
    ASSIGN_OR_RETURN(labels, labels_of_workers(server_));
  }
  ASSIGN_OR_RETURN(const std::vector<store::MetricSample> samples, samples_of(server_, choice, query));
  std::map<std::string, GroupValues> groups;
  for (const store::MetricSample& sample : samples) {
    GroupValues& group = groups[key_of(sample, in, labels)];
    const auto values = server::values_of(sample);
    for (size_t i = 0; i < server::kSeries; ++i) group[i].push_back(values[i]);
  }
  for (auto& [key, values] : groups) fill(key, values, out->add_groups());
  return absl::OkStatus();
}

absl::Status MetricsService::time_series(const v1::GetTimeSeriesMetricsRequest& in,
                                         v1::GetTimeSeriesMetricsResponse* out) {
  ASSIGN_OR_RETURN(const MetricChoice choice, choice_of(server_, in.filter()));
  ASSIGN_OR_RETURN(const store::MetricQuery query, query_of(choice, in.span(), server_.clock().now().wall));
  ASSIGN_OR_RETURN(const Duration step, step_of(in.step_ms(), query));
  ASSIGN_OR_RETURN(const std::vector<store::MetricSample> samples, samples_of(server_, choice, query));
  out->set_step_ms(step.count() / 1000);
  std::map<WorkerId, std::vector<store::MetricSample>> by_worker;
  for (const store::MetricSample& sample : samples) by_worker[sample.worker].push_back(sample);
  for (const auto& [worker, series] : by_worker) {
    v1::MetricSeries* one = out->add_series();
    one->set_worker_id(worker.str());
    for (const store::MetricSample& point : server::in_steps(series, query.from, step))
      to_proto(point, one->add_points());
  }
  return absl::OkStatus();
}

}  // namespace hodei::api
