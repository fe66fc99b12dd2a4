#include "src/server/metrics/server_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <sstream>

#include "src/base/process_figures.h"
#include "src/base/version.h"

namespace hodei::server {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

using States = std::array<core::JobState, 7>;
constexpr States kJobStates = {core::JobState::Pending,   core::JobState::Scheduled, core::JobState::Running,
                               core::JobState::Succeeded, core::JobState::Failed,    core::JobState::Cancelled,
                               core::JobState::Timeout};
constexpr size_t kFirstEnd = 3;
constexpr std::string_view kWorkerStateNames[] = {"",     "creating", "connecting",  "ready",
                                                  "busy", "draining", "terminating", "terminated"};
static_assert(std::size(kWorkerStateNames) == core::kWorkerStates + 1);

const Histogram::BucketBoundaries kCommitBuckets = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};
const Histogram::BucketBoundaries kQueueBuckets = {0.001, 0.01, 0.1, 0.5, 1, 5, 30, 60, 300, 1800, 3600, 21600};
const Histogram::BucketBoundaries kStartupBuckets = {0.03, 0.1, 0.3, 1, 3, 10, 30, 60, 300, 600};
const Histogram::BucketBoundaries kRunBuckets = {0.01, 0.1, 1, 5, 15, 60, 300, 900, 3600, 21600, 86400};

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

double seconds(Duration d) { return static_cast<double>(d.count()) / 1e6; }

Counter& counter(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}
Gauge& gauge(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}
Histogram& histogram(Registry& registry, const char* name, const char* help,
                     const Histogram::BucketBoundaries& buckets) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
}

prometheus::Family<Counter>& by_provider(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

// A counter whose value is kept elsewhere: brought up to it when somebody asks.
void bring_to(Counter& counter, double value) {
  if (value > counter.Value()) counter.Increment(value - counter.Value());
}

}  // namespace

struct ServerMetrics::Series {
  Registry r;
  std::mutex reading;  // one scrape at a time
  // As it happens.
  Counter& submitted = counter(r, "hodei_jobs_submitted_total", "Jobs accepted.");
  Counter& lost =
      counter(r, "hodei_executions_lost_total", "Executions lost with their worker, or reported as lost by it.");
  Counter& started = counter(r, "hodei_executions_started_total", "Executions that started.");
  Counter& dropped =
      counter(r, "hodei_log_dropped_bytes_total", "Output dropped by workers: policy drop, or over a limit.");
  Counter& commit_failures =
      counter(r, "hodei_commit_failures_total", "Commits that failed or whose outcome is unknown.");
  Histogram& commit = histogram(r, "hodei_commit_seconds", "Duration of a commit.", kCommitBuckets);
  Histogram& queue =
      histogram(r, "hodei_job_queue_seconds", "Time a job waited for a worker, without its backoff.", kQueueBuckets);
  Histogram& run = histogram(r, "hodei_job_run_seconds", "Time an execution ran.", kRunBuckets);
  std::array<Counter*, 7> finished{};  // by kJobStates
  prometheus::Family<Counter>& made =
      by_provider(r, "hodei_provider_workers_made_total", "Workers that a provider created.");
  prometheus::Family<Counter>& failed =
      by_provider(r, "hodei_provider_workers_failed_total", "Workers that a provider failed to create.");
  prometheus::Family<Counter>& destroyed =
      by_provider(r, "hodei_provider_workers_destroyed_total", "Workers that were destroyed.");
  prometheus::Family<Histogram>& startup = prometheus::BuildHistogram()
                                               .Name("hodei_provider_startup_seconds")
                                               .Help("Time from the request for a worker to its registration.")
                                               .Register(r);
  // When somebody asks.
  std::array<Gauge*, 3> jobs{};  // the living, by kJobStates
  std::array<Gauge*, core::kWorkerStates + 1> workers{};
  Gauge* stopped = nullptr;
  std::map<SystemState, Gauge*> system;
  std::array<Counter*, kClaims> refused{};
  Counter& commands = counter(r, "hodei_commands_total", "Commands processed by the loop.");
  Counter& log_bytes = counter(r, "hodei_log_bytes_total", "Job output stored.");
  Counter& log_failures = counter(r, "hodei_log_append_failures_total", "Failed attempts to write job output.");
  Counter& samples_dropped =
      counter(r, "hodei_metric_samples_dropped_total", "Samples of MetricsService dropped because the queue was full.");
  Counter& spans = counter(r, "hodei_spans_exported_total", "Spans accepted by the OTLP endpoint.");
  Counter& spans_dropped = counter(r, "hodei_spans_dropped_total",
                                   "Spans dropped because the queue was full or the OTLP endpoint refused them.");
  Gauge& delayed = gauge(r, "hodei_jobs_delayed", "Pending jobs in backoff.");
  Gauge& held = gauge(r, "hodei_jobs_held_by_key", "Pending jobs waiting for their concurrency key.");
  Gauge& unhealthy = gauge(r, "hodei_workers_unhealthy", "Workers that have been silent for too long.");
  Gauge& streams = gauge(r, "hodei_worker_streams", "Open streams to workers.");
  Gauge& slots = gauge(r, "hodei_slots", "Slots of the workers that accept jobs.");
  Gauge& slots_free = gauge(r, "hodei_slots_free", "Slots without an execution.");
  Gauge& disk_free = gauge(r, "hodei_data_dir_free_bytes", "Free space on the disk of the data folder.");
  Gauge& subscribers = gauge(r, "hodei_log_subscribers", "Open subscriptions to output.");
  Gauge& inbox = gauge(r, "hodei_log_inbox_bytes", "Job output waiting to be written.");
  Counter& cpu = counter(r, "process_cpu_seconds_total", "User and system time of the server.");
  Gauge& resident = gauge(r, "process_resident_memory_bytes", "Resident memory of the server.");
  Gauge& virtual_memory = gauge(r, "process_virtual_memory_bytes", "Virtual memory of the server.");
  Gauge& fds = gauge(r, "process_open_fds", "Open file descriptors of the server.");
  Gauge& max_fds = gauge(r, "process_max_fds", "File descriptors that the server may open.");
  Gauge& start = gauge(r, "process_start_time_seconds", "When the server started, in seconds since 1970.");

  Series() {
    auto& ends =
        prometheus::BuildCounter().Name("hodei_jobs_finished_total").Help("Jobs that ended, by state.").Register(r);
    auto& living = prometheus::BuildGauge().Name("hodei_jobs").Help("Jobs that have not ended, by state.").Register(r);
    for (size_t i = 0; i < kJobStates.size(); ++i) {
      const prometheus::Labels label = {{"state", lower(core::name(kJobStates[i]))}};
      if (i < kFirstEnd)
        jobs[i] = &living.Add(label);
      else
        finished[i] = &ends.Add(label);
    }
    auto& of_workers = prometheus::BuildGauge().Name("hodei_workers").Help("Workers, by state.").Register(r);
    for (size_t i = 1; i < core::kWorkerStates; ++i)
      workers[i] = &of_workers.Add({{"state", std::string(kWorkerStateNames[i])}});
    stopped = &of_workers.Add({{"state", "stopped"}});
    auto& of_claims = prometheus::BuildCounter()
                          .Name("hodei_worker_claims_refused_total")
                          .Help("Refused claims of workers about things that do not belong to them, by kind.")
                          .Register(r);
    for (size_t i = 0; i < kClaims; ++i) refused[i] = &of_claims.Add({{"what", std::string(kClaimNames[i])}});
    auto& of_system =
        prometheus::BuildGauge().Name("hodei_system_state").Help("1 for the state of the whole system.").Register(r);
    for (auto state = SystemState::Initializing; state <= SystemState::Shutdown;
         state = SystemState(uint8_t(state) + 1)) {
      system[state] = &of_system.Add({{"state", lower(name(state))}});
    }
    prometheus::BuildGauge()
        .Name("hodei_build_info")
        .Help("Always 1; the version is in the label.")
        .Register(r)
        .Add({{"version", kVersion}})
        .Set(1);
  }

  void read(const Readings& now) {
    const core::QueueReport& q = now.loop.queue;
    const int64_t counts[] = {q.pending, q.scheduled, q.running};
    for (size_t i = 0; i < kFirstEnd; ++i) jobs[i]->Set(static_cast<double>(counts[i]));
    for (size_t i = 1; i < core::kWorkerStates; ++i) workers[i]->Set(static_cast<double>(now.loop.system.by_state[i]));
    stopped->Set(static_cast<double>(now.loop.system.stopped));
    for (const auto& [state, one] : system) one->Set(state == now.state ? 1 : 0);
    for (size_t i = 0; i < kClaims; ++i) bring_to(*refused[i], static_cast<double>(now.refused_claims[i]));
    delayed.Set(static_cast<double>(q.delayed));
    held.Set(static_cast<double>(q.parked));
    unhealthy.Set(static_cast<double>(now.loop.system.unhealthy));
    streams.Set(static_cast<double>(now.worker_streams));
    slots.Set(static_cast<double>(q.slots));
    slots_free.Set(static_cast<double>(q.slots_free));
    disk_free.Set(static_cast<double>(now.disk_free_bytes));
    subscribers.Set(static_cast<double>(now.logs.subscribers));
    inbox.Set(static_cast<double>(now.logs.inbox_bytes));
    bring_to(commands, static_cast<double>(now.health.commands));
    bring_to(log_bytes, static_cast<double>(now.logs.appended_bytes));
    bring_to(log_failures, static_cast<double>(now.logs.failed_appends));
    bring_to(samples_dropped, static_cast<double>(now.samples_dropped));
    bring_to(spans, static_cast<double>(now.spans_exported));
    bring_to(spans_dropped, static_cast<double>(now.spans_dropped));
  }

  void read(const ProcessFigures& process) {
    bring_to(cpu, process.cpu_seconds);
    resident.Set(static_cast<double>(process.resident_bytes));
    virtual_memory.Set(static_cast<double>(process.virtual_bytes));
    fds.Set(static_cast<double>(process.open_fds));
    max_fds.Set(static_cast<double>(process.max_fds));
    start.Set(process.start_seconds);
  }
};

ServerMetrics::ServerMetrics() : series_(std::make_unique<Series>()) {}
ServerMetrics::~ServerMetrics() = default;

void ServerMetrics::moved(const core::JobHead& job, size_t first) {
  if (first == 0) series_->submitted.Increment();
  const size_t count = core::transition_count(job);
  for (size_t i = std::max<size_t>(first, 1); i < count; ++i) {
    const core::Transition* t = core::find_transition(job, i);
    if (t != nullptr) entered(job, i, *t);
  }
  if (!core::is_terminal(job.state)) return;
  const auto end = std::find(kJobStates.begin(), kJobStates.end(), job.state);
  series_->finished[static_cast<size_t>(end - kJobStates.begin())]->Increment();
}

void ServerMetrics::entered(const core::JobHead& job, size_t index, const core::Transition& t) {
  if (t.to == core::JobState::Running) series_->started.Increment();
  if (t.to == core::JobState::Scheduled) {
    const core::Transition* before = core::find_transition(job, index - 1);
    WallTime since = before != nullptr                   ? before->at
                     : job.past->archived_until.is_set() ? job.past->archived_until
                                                         : job.created;
    if (job.not_before <= t.at) since = std::max(since, job.not_before);
    series_->queue.Observe(std::max(0.0, seconds(t.at - since)));
  }
  if (t.from != core::JobState::Running && t.from != core::JobState::Scheduled) return;
  const bool ended = t.to == core::JobState::Pending || core::is_terminal(t.to);
  const core::Execution* execution = core::find_execution(job, t.execution);
  if (ended && execution != nullptr) execution_ended(*execution);
}

void ServerMetrics::execution_ended(const core::Execution& execution) {
  if (execution.facts.dropped_bytes > 0) series_->dropped.Increment(static_cast<double>(execution.facts.dropped_bytes));
  if (!execution.started.is_set() || !execution.ended.is_set()) return;
  series_->run.Observe(std::max(0.0, seconds(execution.ended - execution.started)));
}

void ServerMetrics::execution_lost() { series_->lost.Increment(); }

void ServerMetrics::committed(Duration took, bool ok) {
  series_->commit.Observe(seconds(took));
  if (!ok) series_->commit_failures.Increment();
}

void ServerMetrics::making(const MakingEvent& event) {
  const prometheus::Labels label = {{"provider", event.provider}};
  switch (event.what) {
    case MakingEvent::What::Made: return series_->made.Add(label).Increment();
    case MakingEvent::What::Failed: return series_->failed.Add(label).Increment();
    case MakingEvent::What::Destroyed: return series_->destroyed.Add(label).Increment();
    case MakingEvent::What::Registered:
      return series_->startup.Add(label, kStartupBuckets).Observe(seconds(event.took));
  }
}

std::string ServerMetrics::text(const Readings& readings) {
  const std::lock_guard lock(series_->reading);
  series_->read(readings);
  series_->read(read_process_figures());
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, series_->r.Collect());
  return out.str();
}

}  // namespace hodei::server
