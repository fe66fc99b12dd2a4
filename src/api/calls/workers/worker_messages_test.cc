// The stream's messages: what a turn has for a worker is cut into messages of a bounded size, in order.
#include "src/api/calls/workers/worker_messages.h"

#include <limits>

#include "gtest/gtest.h"
#include "src/base/trace.h"
#include "src/store/segments/log_cut.h"

namespace hodei::api::worker_messages_test {
namespace {

void no_secrets(const core::SpecRow&, v1::RunJob*) { FAIL() << "no order here has secrets"; }

server::ToWorker run_of(uint64_t job, size_t bytes) {
  auto spec = std::make_shared<core::SpecRow>();
  spec->job = JobId{job};
  spec->bytes = std::string(bytes, 'x');
  server::ToWorker message;
  message.epoch = 3;
  message.run.push_back({{JobId{job}, 1}, 1, spec});
  return message;
}

TEST(FillMessage, PutsSmallThingsTogether) {
  std::deque<server::ToWorker> waiting = {run_of(1, 10), run_of(2, 10)};
  waiting[1].results = {{JobId{9}, 1}};
  waiting[1].heartbeat_sent_us = 55;
  v1::ServerMessage out;
  fill(waiting, no_secrets, &out);
  EXPECT_TRUE(waiting.empty());
  EXPECT_EQ(out.run_size(), 2);
  EXPECT_EQ(out.run(0).epoch(), 3u);
  EXPECT_EQ(out.ack().results_size(), 1);
  EXPECT_EQ(out.ack().heartbeat_sent_us(), 55);
}

TEST(FillMessage, SplitsWhatIsTooLargeAndLosesNothing) {
  constexpr size_t kSpec = 900'000;
  server::ToWorker many;
  for (uint64_t job = 1; job <= 10; ++job) many.run.push_back(run_of(job, kSpec).run[0]);
  many.results = {{JobId{99}, 1}};
  std::deque<server::ToWorker> waiting = {many, run_of(11, 10)};
  std::vector<std::string> order;
  int messages = 0;
  int results = 0;
  while (!waiting.empty()) {
    v1::ServerMessage out;
    fill(waiting, no_secrets, &out);
    ASSERT_LT(out.ByteSizeLong(), size_t{4} << 20) << "what gRPC takes at most";
    ASSERT_LT(++messages, 20);
    for (const v1::RunJob& run : out.run()) order.push_back(run.execution_id());
    results += out.ack().results_size();
  }
  ASSERT_EQ(order.size(), 11u);
  for (uint64_t job = 1; job <= 11; ++job) EXPECT_EQ(order[job - 1], to_string(ExecutionId{JobId{job}, 1}));
  EXPECT_EQ(results, 1);
}

TEST(FillMessage, LetsAWelcomeBeginAMessage) {
  server::ToWorker welcome;
  welcome.welcome.emplace();
  welcome.welcome->unknown = {{JobId{5}, 1}};
  std::deque<server::ToWorker> waiting = {run_of(1, 10), welcome};
  v1::ServerMessage first;
  fill(waiting, no_secrets, &first);
  EXPECT_FALSE(first.has_welcome());
  v1::ServerMessage second;
  fill(waiting, no_secrets, &second);
  EXPECT_EQ(second.welcome().unknown(0), to_string(ExecutionId{JobId{5}, 1}));
}

TEST(Orders, CarryTheTraceOfTheirJob) {
  std::deque<server::ToWorker> waiting(2);
  auto spec = std::make_shared<core::SpecRow>();
  waiting[0].run.push_back({ExecutionId{JobId{5}, 2}, 1, spec});
  waiting[1].beat = 2s;
  v1::ServerMessage message;
  fill(waiting, no_secrets, &message);
  EXPECT_EQ(message.run(0).traceparent(), traceparent_for({JobId{5}, 2}, ""));
  EXPECT_EQ(message.ack().heartbeat_ms(), 2000);
}

TEST(Beats, LeaveOutExecutionsThatAreNone) {
  v1::Heartbeat beat;
  beat.set_cpu_load(0.5);
  beat.set_memory_used_mb(3);
  beat.set_network_rx_bytes(7);
  beat.add_executions()->set_execution_id("nonsense");
  v1::ExecutionUsage& usage = *beat.add_executions();
  usage.set_execution_id(to_string(ExecutionId{JobId{5}, 2}));
  usage.set_memory_kb(2);
  const server::Beat made = beat_from(beat, WorkerId("w"), {{11}, {12}});
  EXPECT_EQ(made.memory_bytes, 3 << 20);
  EXPECT_EQ(made.network_rx_bytes, 7);
  ASSERT_EQ(made.executions.size(), 1u);
  EXPECT_EQ(made.executions[0].memory_bytes, 2048);
}

TEST(Hello, IsRefusedWithAnExecutionIdThatIsNone) {
  v1::Hello hello;
  hello.add_held()->set_execution_id("nonsense");
  EXPECT_TRUE(absl::IsInvalidArgument(hello_from(hello).status()));
  hello.mutable_held(0)->set_execution_id(to_string(ExecutionId{JobId{5}, 2}));
  hello.mutable_held(0)->set_started(true);
  const absl::StatusOr<core::OpenStream> good = hello_from(hello);
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(good->held.at(0).execution, (ExecutionId{JobId{5}, 2}));
  EXPECT_TRUE(good->held[0].started);
}

TEST(Reports, KeepTheirOrderAndTimes) {
  v1::WorkerMessage message;
  const std::string id = to_string(ExecutionId{JobId{5}, 2});
  message.add_started()->set_execution_id(id);
  message.mutable_started(0)->set_at_us(123);
  message.add_results()->set_execution_id(id);
  message.mutable_results(0)->set_outcome(v1::JobResult::TimedOut);
  const absl::StatusOr<core::Report> report = report_from(message);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->started.at(0).at.us, 123);
  EXPECT_EQ(report->results.at(0).outcome, core::Outcome::TimedOut);
  message.mutable_results(0)->set_execution_id("");
  EXPECT_FALSE(report_from(message).ok());
}

TEST(Reports, OfSuccessHaveTheExitCodeOfSuccess) {
  v1::WorkerMessage message;
  message.add_results()->set_execution_id(to_string(ExecutionId{JobId{5}, 2}));
  message.mutable_results(0)->set_outcome(v1::JobResult::Succeeded);
  message.mutable_results(0)->set_exit_code(std::numeric_limits<int32_t>::min());
  EXPECT_EQ(report_from(message)->results.at(0).exit_code, 0);
  message.mutable_results(0)->set_outcome(v1::JobResult::Failed);
  message.mutable_results(0)->set_exit_code(3);
  EXPECT_EQ(report_from(message)->results.at(0).exit_code, 3);
}

TEST(Reports, OfWhatNeverStartedHaveNoExitCode) {
  v1::WorkerMessage message;
  v1::JobResult& result = *message.add_results();
  result.set_execution_id(to_string(ExecutionId{JobId{5}, 2}));
  result.set_outcome(v1::JobResult::Failed);
  result.set_failure("input_error");
  EXPECT_EQ(report_from(message)->results.at(0).exit_code, std::nullopt);
  result.set_exit_code(127);
  EXPECT_EQ(report_from(message)->results.at(0).exit_code, 127) << "as a shell would say it";
  result.set_exit_code(0);
  result.set_started_us(123);
  EXPECT_EQ(report_from(message)->results.at(0).exit_code, 0) << "it ran, and failed for another reason";
}

TEST(Reports, HoldTheNewestProgressOfEachExecutionAndNoMoreOfItsWordsThanAreKept) {
  v1::WorkerMessage message;
  for (int i = 0; i < 1000; ++i) {
    v1::JobProgress& progress = *message.add_progress();
    progress.set_execution_id(to_string(ExecutionId{JobId{static_cast<uint64_t>(1 + i % 2)}, 1}));
    progress.set_percentage(i / 10.0);
    progress.set_message(std::string(100'000, 'x'));
  }
  const absl::StatusOr<core::Report> report = report_from(message);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->progress.size(), 2u);
  EXPECT_GT(report->progress[0].percentage, 99.7);
  EXPECT_LT(report->progress[0].message.size(), 5000u);
}

TEST(Reports, AreHandedOnInPiecesInOrder) {
  core::Report report;
  report.worker = WorkerId("w");
  report.stream = 7;
  for (uint64_t n = 1; n <= 5; ++n) {
    report.started.push_back({ExecutionId{JobId{n}, 1}, WallTime{1}});
    report.results.push_back({.execution = ExecutionId{JobId{n}, 1}});
  }
  const std::vector<core::Report> pieces = in_pieces(report, 4);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].started.size(), 4u);
  EXPECT_EQ(pieces[1].started.size(), 1u);
  EXPECT_EQ(pieces[1].results.size(), 3u);
  EXPECT_EQ(pieces[2].results.at(1).execution.job, JobId{5});
  EXPECT_EQ(pieces[2].worker, WorkerId("w"));
  EXPECT_EQ(pieces[2].stream, 7u);
  EXPECT_TRUE(in_pieces({}, 4).empty());
}

TEST(Beats, HoldOneUsageOfEachExecution) {
  v1::Heartbeat beat;
  for (int i = 0; i < 1000; ++i) {
    v1::ExecutionUsage& usage = *beat.add_executions();
    usage.set_execution_id(to_string(ExecutionId{JobId{5}, 1}));
    usage.set_cpu_ms(i);
  }
  const server::Beat made = beat_from(beat, WorkerId("w"), Now{});
  ASSERT_EQ(made.executions.size(), 1u);
  EXPECT_EQ(made.executions[0].cpu_ms, 999);
}

TEST(LogBatches, MustAddUpToTheirData) {
  v1::LogBatch batch;
  batch.set_execution_id(to_string(ExecutionId{JobId{5}, 1}));
  batch.set_data("one\ntwo");
  batch.add_lines(4 << 2);
  batch.add_lines(3 << 2 | 2 | 1);
  batch.set_first_time_us(1000);
  batch.add_time_deltas_us(0);
  batch.add_time_deltas_us(-5);
  v1::LogBatch copy = batch;
  const absl::StatusOr<store::LogPiece> piece = log_from(copy);
  ASSERT_TRUE(piece.ok()) << piece.status();
  ASSERT_EQ(piece->lines.size(), 2u);
  EXPECT_EQ(piece->data, "one\ntwo");
  v1::LogBatch unknown_loss = batch;
  unknown_loss.set_lost(store::kLostUnknown);
  EXPECT_TRUE(absl::IsInvalidArgument(log_from(unknown_loss).status())) << "only a store may say so";
  batch.set_lines(1, 4 << 2);
  EXPECT_TRUE(absl::IsInvalidArgument(log_from(batch).status()));
}

TEST(LogBatches, MayHoldTimesThatTheStoreRefuses) {
  v1::LogBatch batch;
  batch.set_execution_id(to_string(ExecutionId{JobId{5}, 1}));
  batch.set_data("a\n");
  batch.add_lines(2 << 2);
  batch.set_first_time_us(INT64_MAX);
  batch.add_time_deltas_us(1);
  const absl::StatusOr<store::LogPiece> piece = log_from(batch);
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_TRUE(absl::IsInvalidArgument(store::check_piece(*piece)));
}

}  // namespace
}  // namespace hodei::api::worker_messages_test
