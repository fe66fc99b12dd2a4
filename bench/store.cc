// How many job lives per second the embedded store takes, whether that stays as it fills, and how long a restart takes.
//   bench-store DIR [jobs] [batch]
// A life is: spec and live row in one batch, started in a later one, ended in a third, with its history.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "src/core/writes.h"
#include "src/store/sqlite/sqlite_reader.h"
#include "src/store/sqlite/sqlite_store.h"

namespace hodei::store {
namespace {

using namespace core;

// Measuring is what a benchmark is for; nothing decides by this clock.
double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Of this thread: what the store costs even when other programs want the machine.
double cpu_seconds() {
  timespec ts{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return static_cast<double>(ts.tv_sec) + static_cast<double>(ts.tv_nsec) / 1e9;
}

ShapePtr the_shape() {
  Shape shape;
  shape.needs = {.cpu_milli = 100, .memory_mb = 64};
  shape.encoded = encode(shape);
  return std::make_shared<const Shape>(shape);
}

JobHead submitted(uint64_t n, const ShapePtr& shape) {
  JobHead job;
  job.id = JobId{n};
  job.ns = Namespace("default");
  job.created = WallTime{1'700'000'000'000'000 + static_cast<int64_t>(n) * 10};
  job.shape = shape;
  return job;
}

JobHead moved(JobHead job, JobState to) {
  auto past = job.past ? std::make_shared<Past>(*job.past) : std::make_shared<Past>();
  if (to == JobState::Scheduled) {
    job.worker = WorkerId("worker-1");
    past->executions.push_back(
        {.number = ++job.executions, .worker = job.worker, .provider = "manual", .scheduled = job.created + 100us});
  }
  Execution& execution = past->executions.back();
  execution.state = to;
  if (to == JobState::Running) {
    ++job.attempts;
    execution.started = job.created + 200us;
  }
  if (is_terminal(to)) {
    job.worker = WorkerId();
    execution.ended = job.created + 300us;
    execution.exit_code = 0;
  }
  past->transitions.push_back({to, job.state, job.created + 100us, job.executions, ""});
  job.state = to;
  job.past = std::move(past);
  return job;
}

struct Bench {
  std::unique_ptr<SqliteStore> store;
  Epoch epoch{};
  uint64_t batch_no = 0;
  double in_commit = 0;
  double cpu_in_commit = 0;
  double slowest = 0;

  void commit(const Writes& writes) {
    const double start = seconds();
    const double cpu_start = cpu_seconds();
    const absl::Status status = store->commit(writes, epoch, BatchNo{++batch_no});
    const double took = seconds() - start;
    in_commit += took;
    cpu_in_commit += cpu_seconds() - cpu_start;
    slowest = std::max(slowest, took);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      std::exit(1);
    }
  }
};

void add_submission(Writes& out, const JobHead& job) {
  SpecRow spec{.job = job.id, .ns = "default", .name = "build", .correlation_id = "0f3a9c51d2e84b77"};
  spec.bytes.assign(150, 'x');
  out.push_back(PutSpec{std::make_shared<const SpecRow>(std::move(spec))});
  out.push_back(PutJob{std::make_shared<const JobHead>(job)});
}

// Placed in the batch of its submission, as the engine does; started and ended in later ones.
void lives(Bench& bench, uint64_t first, uint64_t jobs, uint64_t batch, const ShapePtr& shape) {
  for (uint64_t at = first; at < first + jobs; at += batch) {
    std::vector<JobHead> scheduled;
    Writes submit;
    for (uint64_t n = at; n < at + batch; ++n) {
      const JobHead job = submitted(n, shape);
      add_submission(submit, job);
      scheduled.push_back(moved(job, JobState::Scheduled));
      submit.push_back(PutJob{std::make_shared<const JobHead>(scheduled.back())});
    }
    submit.push_back(PutNextJob{at + batch});
    Writes start;
    Writes finish;
    for (const JobHead& job : scheduled) {
      const JobHead running = moved(job, JobState::Running);
      start.push_back(PutJob{std::make_shared<const JobHead>(running)});
      finish.push_back(FinishJob{std::make_shared<const JobHead>(moved(running, JobState::Succeeded))});
    }
    bench.commit(submit);
    bench.commit(start);
    bench.commit(finish);
  }
}

int run(const std::string& folder, uint64_t jobs, uint64_t batch) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const SqliteOptions options{.data_dir = folder};
  Bench bench{SqliteStore::open(options).value()};
  if (!bench.store->start().ok()) return 1;
  bench.epoch = bench.store->new_epoch().value();
  const ShapePtr shape = the_shape();

  const uint64_t part = jobs / 5 / batch * batch;
  for (uint64_t done = 0; done < jobs; done += part) {
    bench.in_commit = bench.cpu_in_commit = bench.slowest = 0;
    lives(bench, done + 1, part, batch, shape);
    std::printf("%8lu to %8lu jobs: %8.0f lives/s (%.0f by CPU alone), slowest commit %.1f ms, log %.0f MB\n", done,
                done + part, static_cast<double>(part) / bench.in_commit,
                static_cast<double>(part) / bench.cpu_in_commit, bench.slowest * 1e3,
                static_cast<double>(std::filesystem::file_size(options.path() + "-wal")) / 1e6);
  }

  for (uint64_t at = jobs + 1; at <= 2 * jobs; at += 5000) {
    Writes submit;
    for (uint64_t n = at; n < at + 5000; ++n) add_submission(submit, submitted(n, shape));
    bench.commit(submit);
  }
  bench.store.reset();
  const double start = seconds();
  bench.store = SqliteStore::open(options).value();
  uint64_t loaded = 0;
  std::vector<JobPtr> keep;
  keep.reserve(jobs);
  bench.store
      ->load([&](const Write& write) {
        if (const auto* put = std::get_if<PutJob>(&write)) keep.push_back(put->job);
        ++loaded;
      })
      .IgnoreError();
  std::printf("load of %zu live jobs: %.2f s\n", keep.size(), seconds() - start);

  const auto reader = SqliteReader::open(options).value();
  for (const auto& [what, query] : {std::pair<const char*, JobQuery>{"newest 50", {}},
                                    {"50 failed of none, all jobs read", {.states = {JobState::Failed}}},
                                    {"a name that none has", {.name_contains = "zzz"}}}) {
    const double begin = seconds();
    const size_t found = reader->jobs(query, {})->jobs.size();
    std::printf("list, %s: %zu found, %.2f ms\n", what, found, (seconds() - begin) * 1e3);
  }
  return 0;
}

}  // namespace
}  // namespace hodei::store

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench-store DIR [jobs] [batch]   (DIR is emptied)\n");
    return 2;
  }
  const uint64_t jobs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  const uint64_t batch = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 500;
  return hodei::store::run(argv[1], jobs, batch);
}
