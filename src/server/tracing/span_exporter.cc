#include "src/server/tracing/span_exporter.h"

#include "src/base/counted.h"
#include "src/base/journal.h"
#include "src/server/tracing/otlp.h"

namespace hodei::server {
namespace {

// Of one job, before its newest.
constexpr size_t kMaxTracedExecutions = 100;
constexpr size_t kMaxTracedBytes = size_t{8} << 20;

bool may_help_again(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

SpanExporter::SpanExporter(EventHub& events, store::Reader& reader, Post post)
    : events_(events), reader_(reader), post_(std::move(post)) {}

void SpanExporter::start() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  watch_ = events_.watch_all([this](const std::shared_ptr<const JobEvent>& event) {
    if (!event->progress && core::is_terminal(event->job->state)) finished(event->job);
  });
  thread_ = std::thread([this] { run(); });
}

void SpanExporter::stop() {
  if (!thread_.joinable()) return;
  events_.unwatch(watch_);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void SpanExporter::finished(const core::JobPtr& job) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      ++dropped_;
      return;
    }
    first = waiting_.empty();
    waiting_.push_back(job);
  }
  if (first) wake_.notify_one();
}

bool SpanExporter::wait(Duration time) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, time, [this] { return stopping_; });
}

void SpanExporter::run() {
  while (true) {
    std::vector<core::JobPtr> jobs;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const size_t count = std::min(waiting_.size(), kMaxBatch);
      jobs.assign(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(count));
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(count));
    }
    send(jobs);
  }
}

void SpanExporter::send(const std::vector<core::JobPtr>& jobs) {
  std::vector<JobId> ids;
  for (const core::JobPtr& job : jobs) ids.push_back(job->id);
  const auto rows = reader_.specs(ids);
  std::map<JobId, std::shared_ptr<const core::SpecRow>> specs;
  if (rows.ok()) {
    for (const auto& row : *rows) specs[row->job] = row;
  }
  std::vector<Span> spans;
  for (const core::JobPtr& job : jobs) {
    const auto spec = specs.find(job->id);
    if (spec == specs.end()) {  // without it nobody knows whose trace it is
      ++dropped_;
      continue;
    }
    const store::ArchiveQuery older{.job = job->id, .limit = kMaxTracedExecutions, .max_bytes = kMaxTracedBytes};
    absl::StatusOr<std::vector<core::ArchivedExecution>> archived = std::vector<core::ArchivedExecution>();
    if (job->past != nullptr && job->past->archived_transitions > 0) archived = reader_.archived_executions(older);
    std::vector<Span> more = spans_of(*job, *spec->second, archived.value_or(std::vector<core::ArchivedExecution>()));
    std::move(more.begin(), more.end(), std::back_inserter(spans));
  }
  if (spans.empty()) return;
  const std::string body = otlp_json(spans);
  absl::Status done = post_(body);
  for (int i = 1; i < kTries && may_help_again(done) && wait(kRetryAfter * (1 << (i - 1))); ++i) done = post_(body);
  if (done.ok()) {
    exported_ += spans.size();
    return;
  }
  dropped_ += spans.size();
  journal(Level::Warn, "server", counted(spans.size(), "span"), " dropped: ", std::string(done.message()));
}

}  // namespace hodei::server
