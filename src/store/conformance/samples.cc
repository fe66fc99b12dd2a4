#include "src/store/conformance/samples.h"

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

#include "src/base/status.h"
#include "src/core/jobs/draft.h"

namespace hodei::store {

using namespace core;

ShapePtr a_shape(std::string_view pool) {
  Shape shape;
  shape.needs = {.cpu_milli = 500, .memory_mb = 64};
  shape.pool = pool;
  shape.labels = {{.key = "zone", .op = LabelOperator::In, .values = {"a", "b"}}};
  shape.encoded = encode(shape);
  return std::make_shared<const Shape>(std::move(shape));
}

JobHead a_job(uint64_t number) {
  JobHead job;
  job.id = JobId{number};
  job.ns = Namespace("default");
  job.created = WallTime{1'700'000'000'000'000 + static_cast<int64_t>(number)};
  job.shape = a_shape("general");
  return job;
}

std::shared_ptr<const SpecRow> a_spec(const JobHead& job, std::string_view name) {
  SpecRow spec;
  spec.job = job.id;
  spec.ns = job.ns.str();
  spec.name = name;
  spec.correlation_id = cat("c-", number(job.id));
  spec.bytes = cat("spec of ", number(job.id));
  return std::make_shared<const SpecRow>(std::move(spec));
}

WorkerRecordPtr a_worker(std::string_view id) {
  WorkerRecord record;
  record.info.id = WorkerId(std::string(id));
  record.info.hostname = "host";
  record.info.slots = 4;
  record.info.labels = {{"zone", "a"}};
  record.session = hash128(cat("session of ", id));
  record.used_otp = hash128(cat("otp of ", id));
  record.incarnation = "i1";
  record.registered = WallTime{1'700'000'000'000'000};
  return std::make_shared<const WorkerRecord>(std::move(record));
}

JobHead moved(JobHead job, JobState to, std::string_view reason) {
  auto past = job.past == nullptr ? std::make_shared<Past>() : std::make_shared<Past>(*job.past);
  const WallTime at = job.created + Duration(1 + past->transitions.size());
  past->transitions.push_back(
      {.to = to, .from = job.state, .at = at, .execution = job.executions, .reason = std::string(reason)});
  if (!past->executions.empty()) past->executions.back().state = to;
  if (to == JobState::Running) ++job.attempts;
  if (!is_active(to)) job.worker = WorkerId();
  job.state = to;
  job.past = std::move(past);
  return job;
}

JobHead dispatched(JobHead job, std::string_view worker) {
  ++job.executions;
  job = moved(std::move(job), JobState::Scheduled);
  job.worker = WorkerId(std::string(worker));
  auto past = std::make_shared<Past>(*job.past);
  past->executions.push_back({.number = job.executions, .worker = job.worker, .scheduled = job.created});
  job.past = std::move(past);
  return job;
}

Writes entering(const JobHead& job, std::string_view name) {
  return {PutSpec{a_spec(job, name)}, PutJob{std::make_shared<const JobHead>(job)}};
}

Write live(JobHead job) { return PutJob{std::make_shared<const JobHead>(std::move(job))}; }

Write finished(JobHead job) { return FinishJob{std::make_shared<const JobHead>(std::move(job))}; }

Writes RandomHistory::next_batch() {
  Writes out;
  for (uint64_t n = 1 + pick(12); n > 0; --n) {
    switch (pick(6)) {
      case 0:
      case 1: submit(out); break;
      case 2: change_a_row(out); break;
      case 3: change_something_else(out); break;
      default: move_a_job(out);
    }
  }
  return out;
}

void RandomHistory::submit(Writes& out) {
  JobHead job = a_job(next_job_++);
  job.ns = Namespace(cat("ns", pick(3)));
  job.priority = static_cast<Priority>(1 + pick(4));
  job.max_attempts = static_cast<uint32_t>(1 + pick(3));
  job.timeout = Duration(pick(1'000'000));
  job.backoff.factor = 1 + static_cast<double>(pick(100)) / 7;
  job.created = WallTime{clock_us_ += 1000};
  if (pick(3) == 0) job.concurrency_key = some_text();
  if (pick(3) == 0) job.secrets = std::make_shared<const std::string>(cat("s", pick(9)));
  if (pick(4) == 0) job.shape = a_shape(some_text());
  if (pick(3) == 0) job.labels = std::make_shared<const Labels>(Labels{{"team", some_text()}});
  SpecRow spec = *a_spec(job, some_text());
  spec.labels = {{"team", some_text()}};
  spec.retry_of = JobId{pick(next_job_)};
  spec.bytes.append(pick(3) == 0 ? pick(9000) : pick(60), 'x');
  if (pick(2) == 0) {
    out.push_back(Put<IdempotencyRow>{{.key = hash128(cat("key", pick(50))),
                                       .job = job.id,
                                       .expires = {clock_us_ + 5000},
                                       .fingerprint = hash64(cat("spec", pick(5)))}});
  }
  out.push_back(PutSpec{std::make_shared<const SpecRow>(std::move(spec))});
  out.push_back(live(job));
  out.push_back(PutNextJob{next_job_});
  live_[number(job.id)] = std::move(job);
}

void archive(JobHead& job, Writes& out) {
  Draft draft(job);
  for (ArchivedExecution& one : draft.archive()) {
    out.push_back(PutExecution{job.id, std::make_shared<const ArchivedExecution>(std::move(one))});
  }
  job = *draft.finish();
}

void RandomHistory::move_a_job(Writes& out) {
  if (live_.empty()) return;
  const auto at = std::next(live_.begin(), static_cast<std::ptrdiff_t>(pick(live_.size())));
  JobHead& job = at->second;
  JobState to = JobState::Pending;
  switch (job.state) {
    case JobState::Pending: to = pick(6) == 0 ? JobState::Cancelled : JobState::Scheduled; break;
    case JobState::Scheduled: to = pick(6) == 0 ? JobState::Pending : JobState::Running; break;
    default: to = static_cast<JobState>(static_cast<uint64_t>(JobState::Succeeded) + pick(4));
  }
  if (job.state == JobState::Running && pick(6) == 0) to = JobState::Pending;
  if (to == JobState::Scheduled && pick(8) > 0) archive(job, out);  // a head of an older version keeps them
  job = to == JobState::Scheduled ? dispatched(job, cat("w", pick(4))) : moved(job, to, some_text());
  if (is_terminal(to)) {
    out.push_back(finished(job));
    ended_.push_back(job.id);
    live_.erase(at);
  } else {
    job.cancel_requested = pick(5) == 0;
    job.requeue = static_cast<Requeue>(pick(3));
    out.push_back(live(job));
  }
}

template <class Row>
Write RandomHistory::a_change() {
  Row row = a_row<Row>(values_);
  if constexpr (RowType<Row>::writing == Writing::Once) {
    each_column<Row>([&](const auto& column) {
      if constexpr (std::remove_cvref_t<decltype(column)>::is_key) std::invoke(column.access, row) = next_number_++;
    });
  }
  if constexpr (RowType<Row>::writing == Writing::PutAndErase) {
    if (pick(3) == 0) return Erase<Row>{key_of(row)};
  }
  return Put<Row>(std::move(row));
}

void RandomHistory::change_a_row(Writes& out) {
  const size_t wanted = pick(list_size(AllRows{}));
  size_t at = 0;
  each_type(AllRows{}, [&]<class Row>(std::type_identity<Row>) {
    if (at++ == wanted) out.push_back(a_change<Row>());
  });
}

void RandomHistory::change_something_else(Writes& out) {
  switch (pick(8)) {
    case 0: out.push_back(Put<WorkerRecord>{a_worker(cat("w", pick(5)))}); break;
    case 1: out.push_back(ExpireIdempotency{WallTime{clock_us_}}); break;
    case 2: out.push_back(ExpireAudit{WallTime{1'700'000'000'000'000 + static_cast<int64_t>(pick(1000))}}); break;
    case 3:
      out.push_back(PutScheduler{{.strategy = Strategy::RoundRobin,
                                  .capacity = 1.0 / (1 + pick(9)),
                                  .packing = Packing::Pack,
                                  .preemption = pick(2) == 0,
                                  .reserve_after = Duration(pick(9))}});
      break;
    case 4:
      if (!ended_.empty()) out.push_back(EraseJob{ended_[pick(ended_.size())]});
      break;
    case 5: out.push_back(DropExecutions{JobId{1 + pick(next_job_)}, static_cast<uint32_t>(pick(3))}); break;
    case 6: out.push_back(EraseIdempotency{hash128(cat("key", pick(50))), JobId{1 + pick(next_job_)}}); break;
    default: out.push_back(PutNextJob{next_job_});
  }
}

}  // namespace hodei::store
