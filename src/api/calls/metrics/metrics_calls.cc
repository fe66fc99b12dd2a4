#include "src/api/calls/metrics/metrics_calls.h"

#include "src/api/calls/event_queue.h"
#include "src/api/calls/metrics/metric_query.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/watch.h"
#include "src/base/status.h"
#include "src/server/metrics/aggregate.h"

namespace hodei::api {
namespace {

constexpr int64_t kDefaultSteps = 60;
constexpr Duration kShortestStep = 1s;

using GroupValues = std::array<std::vector<double>, server::kSeries>;

void fill_group(const std::string& key, GroupValues& values, v1::MetricGroup* out) {
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
std::string group_of(const store::MetricSample& sample, const v1::GetAggregatedMetricsRequest& in,
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

absl::Status aggregate(const MetricsPorts& p, const core::EnvelopePtr& envelope,
                       const v1::GetAggregatedMetricsRequest& in, v1::GetAggregatedMetricsResponse* out) {
  const bool by_label = in.group_by() == v1::GetAggregatedMetricsRequest::label;
  if (by_label && in.label_key().empty()) return bad_field("label_key", "is required to group by a label");
  ASSIGN_OR_RETURN(const MetricChoice choice, choice_of(p.commands, envelope, in.filter()));
  ASSIGN_OR_RETURN(const store::MetricQuery query, query_of(choice, in.span(), p.stored.clock.now().wall));
  WorkerLabels labels;
  if (by_label) {
    ASSIGN_OR_RETURN(labels, labels_of_workers(p.commands, envelope));
  }
  ASSIGN_OR_RETURN(const std::vector<store::MetricSample> samples, samples_of(p.samples, choice, query));
  std::map<std::string, GroupValues> groups;
  for (const store::MetricSample& sample : samples) {
    GroupValues& group = groups[group_of(sample, in, labels)];
    const auto values = server::values_of(sample);
    for (size_t i = 0; i < server::kSeries; ++i) group[i].push_back(values[i]);
  }
  for (auto& [key, values] : groups) fill_group(key, values, out->add_groups());
  return absl::OkStatus();
}

absl::Status time_series(const MetricsPorts& p, const core::EnvelopePtr& envelope,
                         const v1::GetTimeSeriesMetricsRequest& in, v1::GetTimeSeriesMetricsResponse* out) {
  ASSIGN_OR_RETURN(const MetricChoice choice, choice_of(p.commands, envelope, in.filter()));
  ASSIGN_OR_RETURN(const store::MetricQuery query, query_of(choice, in.span(), p.stored.clock.now().wall));
  ASSIGN_OR_RETURN(const Duration step, step_of(in.step_ms(), query));
  ASSIGN_OR_RETURN(const std::vector<store::MetricSample> samples, samples_of(p.samples, choice, query));
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

// Samples as they arrive. Only the loop knows which workers have the labels, so its answer comes first.
class SampleSource final : public Source<v1::MetricSample> {
 public:
  SampleSource(const MetricsPorts& p, core::EnvelopePtr envelope, v1::StreamMetricsRequest request)
      : ports_(p), envelope_(std::move(envelope)), request_(std::move(request)), inbox_(std::make_shared<Inbox>()) {}
  ~SampleSource() override {
    inbox_->watch.end([this](uint64_t number) { ports_.watchers.unwatch(number); });
  }

  void start(std::function<void()> wake) override {
    inbox_->wake = wake;
    inbox_->samples.set_wake(std::move(wake));
    const absl::Status taken =
        ports_.stored.pool.post([&p = ports_, envelope = envelope_, request = request_, inbox = inbox_] {
          const absl::StatusOr<MetricChoice> choice = choice_of(p.commands, envelope, request.filter());
          if (!choice.ok()) return inbox->end(choice.status());
          inbox->watch.begin([&] {
            return p.watchers.watch([inbox, choice = *choice, jobs = request.jobs()](const auto& samples) {
              for (const store::MetricSample& sample : samples) {
                if (choice.has(sample, jobs)) inbox->samples.push(sample);
              }
            });
          });
        });
    if (!taken.ok()) inbox_->end(taken);
  }

  Next next(v1::MetricSample& out) override {
    {
      const std::lock_guard lock(inbox_->mutex);
      status_ = inbox_->refused;
    }
    if (!status_.ok()) return Next::End;
    const auto taken = inbox_->samples.pop();
    if (!taken) return Next::Wait;
    out.Clear();
    to_proto(taken->item, &out);
    return Next::Message;
  }

  absl::Status status() const override { return status_; }

 private:
  // What the recorder's thread leaves for the pump. It outlives the source: a watcher may be at work.
  struct Inbox {
    std::function<void()> wake;
    Watch watch;
    EventQueue<store::MetricSample> samples;
    std::mutex mutex;
    absl::Status refused;  // guarded by the mutex

    void end(const absl::Status& why) {
      {
        const std::lock_guard lock(mutex);
        refused = why;
      }
      wake();
    }
  };

  const MetricsPorts& ports_;
  const core::EnvelopePtr envelope_;
  const v1::StreamMetricsRequest request_;
  const std::shared_ptr<Inbox> inbox_;
  absl::Status status_;
};

}  // namespace

SourceOr<v1::MetricSample> stream_metrics(const MetricsPorts& p, const Call& call, const v1::StreamMetricsRequest& in) {
  return std::make_shared<SampleSource>(p, call.envelope, in);
}

void get_aggregated_metrics(const MetricsPorts& p, const Call& call, const v1::GetAggregatedMetricsRequest& in,
                            Answer<v1::GetAggregatedMetricsResponse> answer) {
  read(
      p.stored, call, kLong,
      [&p, &in, envelope = call.envelope, out = answer.out](const store::ReadLimit&) {
        return aggregate(p, envelope, in, out);
      },
      answer.give);
}

void get_time_series_metrics(const MetricsPorts& p, const Call& call, const v1::GetTimeSeriesMetricsRequest& in,
                             Answer<v1::GetTimeSeriesMetricsResponse> answer) {
  read(
      p.stored, call, kLong,
      [&p, &in, envelope = call.envelope, out = answer.out](const store::ReadLimit&) {
        return time_series(p, envelope, in, out);
      },
      answer.give);
}

}  // namespace hodei::api
