#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/server/metrics/aggregate.h"
#include "src/server/metrics/metrics_recorder.h"
#include "src/server/metrics/server_metrics.h"
#include "src/store/memory/memory_metrics_store.h"

namespace hodei::server::metrics_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Now at(int64_t second) { return {{second * 1'000'000}, {second * 1'000'000}}; }

Beat beat(int64_t second, int64_t bytes) {
  Beat out;
  out.at = at(second);
  out.worker = WorkerId("w");
  out.cpu_load = 0.5;
  out.memory_bytes = 1 << 30;
  out.network_rx_bytes = bytes;
  out.disk_write_bytes = 2 * bytes;
  return out;
}

TEST(SampleMaker, TurnsCountersIntoRates) {
  SampleMaker maker;
  EXPECT_EQ(maker.make(beat(10, 1000)).at(0).network_rx, 0);
  const store::MetricSample second = maker.make(beat(20, 6000)).at(0);
  EXPECT_EQ(second.network_rx, 500);
  EXPECT_EQ(second.disk_write, 1000);
  EXPECT_EQ(second.cpu, 0.5);
}

TEST(SampleMaker, SaysNothingAboutAMachineThatStartedAnew) {
  SampleMaker maker;
  maker.make(beat(10, 1'000'000));
  EXPECT_EQ(maker.make(beat(20, 5)).at(0).network_rx, 0);
}

TEST(SampleMaker, MakesASampleOfAJobOnlyFromANewReading) {
  SampleMaker maker;
  Beat one = beat(10, 0);
  one.executions = {{{JobId{3}, 1}, 1'000, 4096, 0, 0}};
  EXPECT_THAT(maker.make(one), SizeIs(2));
  Beat same = one;
  same.at = at(20);
  EXPECT_THAT(maker.make(same), SizeIs(1));
  Beat newer = one;
  newer.at = at(40);
  newer.executions[0].cpu_ms = 61'000;
  const auto samples = maker.make(newer);
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[1].job, JobId{3});
  EXPECT_EQ(samples[1].cpu, 2);  // 60 s of time in the 30 s since the reading before, not in the last 20
}

TEST(Aggregate, GivesValuesThatOccur) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(aggregate(values), (Aggregate{50.5, 1, 100, 50, 95, 99}));
  std::vector<double> one = {7};
  EXPECT_EQ(aggregate(one), (Aggregate{7, 7, 7, 7, 7, 7}));
}

TEST(InSteps, AveragesEachStepAndLeavesEmptyOnesOut) {
  std::vector<store::MetricSample> samples(3);
  samples[0].at = {1'000'000};
  samples[1].at = {9'000'000};
  samples[2].at = {25'000'000};
  samples[0].cpu = 1;
  samples[1].cpu = 3;
  samples[2].cpu = 8;
  const auto steps = in_steps(samples, {0}, 10s);
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].cpu, 2);
  EXPECT_EQ(steps[0].at.us, 0);
  EXPECT_EQ(steps[1].cpu, 8);
  EXPECT_EQ(steps[1].at.us, 20'000'000);
}

class RecorderTest : public testing::Test {
 protected:
  size_t stored() {
    size_t count = 0;
    EXPECT_TRUE(
        store_.read({{0}, {INT64_MAX}, {}, {}}, [&count](const store::MetricSample&) { return ++count > 0; }).ok());
    return count;
  }
  SystemClock clock_;
  store::MemoryMetricsStore store_;
  int first_watchers_ = 0;
  MetricsRecorder recorder_{store_, clock_, std::chrono::hours(1), [this] { ++first_watchers_; }};
};

TEST_F(RecorderTest, StoresWhatItTookBeforeItStops) {
  recorder_.start();
  Beat now = beat(0, 0);
  now.at = clock_.now();
  for (int i = 0; i < 10; ++i) recorder_.take(now);
  recorder_.stop();
  EXPECT_EQ(stored(), 10u);
  EXPECT_EQ(recorder_.dropped(), 0u);
}

TEST_F(RecorderTest, StoresNothingWhileTheDiskIsNearlyFull) {
  recorder_.hold_back(true);
  recorder_.start();
  Beat now = beat(0, 0);
  now.at = clock_.now();
  recorder_.take(now);
  recorder_.stop();
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(recorder_.dropped(), 1u);
}

TEST_F(RecorderTest, ForgetsWhatIsTooOld) {
  recorder_.start();
  recorder_.take(beat(5, 0));  // of 1970
  Beat now = beat(6, 0);
  now.at = clock_.now();
  recorder_.take(now);
  recorder_.stop();
  EXPECT_EQ(stored(), 1u);
}

// The clock of retention began while the wall clock was years ahead, and goes on from there.
TEST_F(RecorderTest, KeepsSamplesThatAreOldOnlyByTheClockOfRetention) {
  class YearsAhead final : public Clock {
   public:
    Now now() const override {
      Now now = SystemClock().now();
      now.wall = now.wall + std::chrono::hours(2 * 365 * 24);
      return now;
    }
  } ahead;
  MetricsRecorder recorder(store_, ahead, std::chrono::hours(1), [] {});
  recorder.start();
  Beat now = beat(5, 0);
  now.at = clock_.now();
  recorder.take(now);
  recorder.stop();
  EXPECT_EQ(stored(), 1u);
}

TEST_F(RecorderTest, TellsWatchersAndWhetherThereAreAny) {
  std::vector<double> seen;
  recorder_.start();
  const uint64_t first =
      recorder_.watchers().watch([&seen](const std::vector<store::MetricSample>& s) { seen.push_back(s[0].cpu); });
  const uint64_t second = recorder_.watchers().watch([](const auto&) {});
  EXPECT_TRUE(recorder_.watchers().is_watched());
  recorder_.take(beat(5, 0));
  recorder_.stop();
  recorder_.watchers().unwatch(first);
  recorder_.watchers().unwatch(second);
  EXPECT_THAT(seen, ElementsAre(0.5));
  EXPECT_EQ(first_watchers_, 1);
  EXPECT_FALSE(recorder_.watchers().is_watched());
}

core::JobHead finished_job() {
  auto past = std::make_shared<core::Past>();
  past->transitions = {{core::JobState::Scheduled, core::JobState::Pending, {3'000'000}, 1, ""},
                       {core::JobState::Running, core::JobState::Scheduled, {3'100'000}, 1, ""},
                       {core::JobState::Failed, core::JobState::Running, {9'000'000}, 1, ""}};
  core::Execution run;
  run.number = 1;
  run.started = {3'000'000};
  run.ended = {9'000'000};
  run.facts.dropped_bytes = 11;
  past->executions.push_back(run);
  core::JobHead job;
  job.id = JobId{1};
  job.created = {1'000'000};
  job.state = core::JobState::Failed;
  job.past = past;
  return job;
}

TEST(ServerMetrics, CountsALifeOnce) {
  ServerMetrics metrics;
  metrics.moved(finished_job(), 0);
  Readings readings;
  readings.loop.queue.pending = 5;
  readings.state = SystemState::Degraded;
  const std::string text = metrics.text(readings);
  for (const char* line : {"hodei_jobs_submitted_total 1\n", "hodei_jobs_finished_total{state=\"failed\"} 1\n",
                           "hodei_jobs_finished_total{state=\"succeeded\"} 0\n", "hodei_job_queue_seconds_sum 2\n",
                           "hodei_job_run_seconds_sum 6\n", "hodei_log_dropped_bytes_total 11\n",
                           "hodei_executions_started_total 1\n", "hodei_jobs{state=\"pending\"} 5\n",
                           "hodei_system_state{state=\"degraded\"} 1\n", "hodei_system_state{state=\"ready\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ServerMetrics, CountsWorkersByTheStatesThatListsShow) {
  ServerMetrics metrics;
  Readings readings;
  readings.loop.system.by_state[static_cast<size_t>(core::WorkerState::Draining)] = 2;
  readings.loop.system.stopped = 3;
  const std::string text = metrics.text(readings);
  EXPECT_THAT(text, HasSubstr("hodei_workers{state=\"draining\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("hodei_workers{state=\"stopped\"} 3\n"));
}

TEST(ServerMetrics, CountsOnlyTransitionsThatAreNew) {
  ServerMetrics metrics;
  metrics.moved(finished_job(), 3);
  const std::string text = metrics.text({});
  EXPECT_THAT(text, HasSubstr("hodei_jobs_submitted_total 0\n"));
  EXPECT_THAT(text, HasSubstr("hodei_executions_started_total 0\n"));
  EXPECT_THAT(text, HasSubstr("hodei_job_run_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("hodei_job_queue_seconds_count 0\n"));
}

}  // namespace
}  // namespace hodei::server::metrics_test
