#include "src/api/calls/metrics/metric_query.h"

#include <algorithm>
#include <future>

#include "src/api/calls/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr Duration kLoopLimit = 5s;
constexpr Duration kDefaultSpan = std::chrono::hours(1);
constexpr int kMaxNamedWorkers = 10'000;

// Years beyond these are nobody's time, and in microseconds they would not fit.
WallTime time_of(const google::protobuf::Timestamp& t) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return {std::clamp(t.seconds(), -kMost, kMost) * 1'000'000 + t.nanos() / 1'000};
}

bool matches(const std::map<std::string, std::string>& labels,
             const google::protobuf::Map<std::string, std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
    const auto found = labels.find(one.first);
    return found != labels.end() && found->second == one.second;
  });
}

}  // namespace

absl::StatusOr<WorkerLabels> labels_of_workers(Commands& commands, const core::EnvelopePtr& envelope) {
  auto answer = std::make_shared<std::promise<absl::StatusOr<core::Reply>>>();
  std::future<absl::StatusOr<core::Reply>> reply = answer->get_future();
  commands.post_bounded(envelope, core::Question(core::DescribeWorkers{}),
                        [answer](auto given) { answer->set_value(std::move(given)); });
  if (reply.wait_for(kLoopLimit) != std::future_status::ready)
    return absl::UnavailableError("the server is busy; try again in a moment");
  const absl::StatusOr<core::Reply> views = reply.get();
  RETURN_IF_ERROR(views.status());
  WorkerLabels out;
  for (const core::WorkerView& view : std::get<core::WorkerViews>(*views).workers) {
    const core::WorkerInfo& info = view.record->info;
    out[info.id] = {info.labels.begin(), info.labels.end()};
  }
  return out;
}

bool MetricChoice::has(const store::MetricSample& sample, bool with_jobs) const {
  if (job != JobId{} ? sample.job != job : sample.job != JobId{} && !with_jobs) return false;
  return !workers || std::count(workers->begin(), workers->end(), sample.worker) > 0;
}

absl::StatusOr<MetricChoice> choice_of(Commands& commands, const core::EnvelopePtr& envelope,
                                       const v1::MetricFilter& filter) {
  if (filter.worker_ids_size() > kMaxNamedWorkers)
    return bad_field("filter.worker_ids", "must list at most ", kMaxNamedWorkers, " workers");
  MetricChoice out;
  if (!filter.job_id().empty()) {
    ASSIGN_OR_RETURN(out.job, parse_job_id(filter.job_id()));
  }
  if (filter.worker_ids_size() > 0) {
    out.workers.emplace();
    for (const std::string& id : filter.worker_ids()) out.workers->emplace_back(id);
  }
  if (filter.labels().empty()) return out;
  ASSIGN_OR_RETURN(const WorkerLabels known, labels_of_workers(commands, envelope));
  std::vector<WorkerId> matching;
  for (const auto& [worker, labels] : known) {
    const bool named = !out.workers || std::count(out.workers->begin(), out.workers->end(), worker) > 0;
    if (named && matches(labels, filter.labels())) matching.push_back(worker);
  }
  out.workers = std::move(matching);
  return out;
}

absl::StatusOr<store::MetricQuery> query_of(const MetricChoice& choice, const v1::MetricSpan& span, WallTime now) {
  store::MetricQuery out;
  out.job = choice.job;
  if (choice.workers) out.workers = *choice.workers;
  out.until = span.has_until() ? time_of(span.until()) : now;
  out.from = span.has_from() ? time_of(span.from()) : out.until - kDefaultSpan;
  if (out.from >= out.until) return bad_field("span.from", "must be before span.until");
  return out;
}

absl::StatusOr<std::vector<store::MetricSample>> samples_of(store::MetricsStore& samples, const MetricChoice& choice,
                                                            const store::MetricQuery& query) {
  std::vector<store::MetricSample> out;
  if (choice.workers && choice.workers->empty())
    return out;  // no worker has these labels; an empty list would mean all
  RETURN_IF_ERROR(samples.read(query, [&out](const store::MetricSample& sample) {
    out.push_back(sample);
    return out.size() <= kMaxMetricSamples;
  }));
  if (out.size() <= kMaxMetricSamples) return out;
  return absl::ResourceExhaustedError(
      cat("span: more than ", kMaxMetricSamples, " samples; request a shorter time or fewer workers"));
}

void to_proto(const store::MetricSample& sample, v1::MetricSample* out) {
  set_time(sample.at, out->mutable_at());
  out->set_worker_id(sample.worker.str());
  if (sample.job != JobId{}) out->set_job_id(short_id(sample.job));
  out->set_cpu(sample.cpu);
  out->set_memory_bytes(sample.memory_bytes);
  out->set_network_rx_bytes_per_second(sample.network_rx);
  out->set_network_tx_bytes_per_second(sample.network_tx);
  out->set_disk_read_bytes_per_second(sample.disk_read);
  out->set_disk_write_bytes_per_second(sample.disk_write);
}

}  // namespace hodei::api
