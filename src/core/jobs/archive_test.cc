// What a job's head holds of its past, and what is archived.
#include "src/core/engine_harness.h"
#include "src/core/jobs/draft.h"

namespace hodei::core::archive_test {
namespace {

constexpr size_t kOutputBytes = 64 << 10;

// Fails with large outputs.
void fail_with_outputs(Bench& bench, Hand& worker, JobId job) {
  worker.takes(job);
  ResultReport result;
  result.execution = bench.current(job);
  result.outcome = Outcome::Failed;
  result.exit_code = 1;
  result.started = result.ended = bench.now.wall;
  result.log_bytes = 7;
  result.facts.outputs["out"] = std::string(kOutputBytes, 'x');
  ASSERT_TRUE(worker.reports({.results = {result}}).ok());
}

// Fails `times` times and waits for the next dispatch after each but the last.
JobId a_job_that_failed(Bench& bench, uint32_t times) {
  const JobId job = bench.submit(a_job().attempts(times));
  Hand worker = bench.worker("w1").joins();
  for (uint32_t n = 1; n <= times; ++n) {
    fail_with_outputs(bench, worker, job);
    if (n < times) bench.advance(bench.job(job).not_before - bench.now.wall + 1ms);
  }
  return job;
}

TEST(Archive, AHeadHoldsTheNewestExecutionOnly) {
  Bench bench;
  const JobId job = a_job_that_failed(bench, 3);
  const JobHead& head = bench.job(job);
  ASSERT_EQ(head.past->executions.size(), 1u);
  EXPECT_EQ(head.past->executions[0].number, 3u);
  EXPECT_EQ(head.executions, 3u);
  ASSERT_EQ(bench.rows.archived.size(), 2u);
  const ArchivedExecution& first = bench.rows.archived.at({job, 1});
  EXPECT_EQ(first.execution.log_bytes, 7);
  EXPECT_EQ(first.execution.state, JobState::Failed);
  ASSERT_EQ(first.transitions.size(), 4u) << "assigned, started, failed, put back";
  EXPECT_EQ(first.transitions.back().to, JobState::Pending);
  EXPECT_EQ(bench.history(job).size(), 11u) << "nothing of the history is lost";
}

TEST(Archive, ThreeHundredAttemptsWithLargeOutputsWriteEachOutputAFewTimes) {
  Bench bench;
  bench.checks = false;
  a_job_that_failed(bench, 300);
  EXPECT_LT(bench.rows.head_bytes + bench.rows.archived_bytes, 300 * 3 * kOutputBytes);
  EXPECT_GE(bench.rows.archived_bytes, 299 * kOutputBytes);
}

TEST(Archive, TransitionsKeepTheirNumbersForWhoeverWasToldOfThem) {
  Bench bench;
  const JobId job = a_job_that_failed(bench, 2);
  size_t told = 1;  // the submission is 0
  for (const JobMoved& move : bench.told<JobMoved>()) {
    if (move.first == 0) continue;
    EXPECT_EQ(move.first, told);
    for (size_t i = move.first; i < transition_count(*move.job); ++i) EXPECT_NE(find_transition(*move.job, i), nullptr);
    told = transition_count(*move.job);
  }
  EXPECT_EQ(told, bench.history(job).size() + 1);
  EXPECT_EQ(find_transition(bench.job(job), 1), nullptr) << "archived";
  EXPECT_EQ(find_transition(bench.job(job), 0), nullptr) << "the submission is no transition of the list";
  EXPECT_EQ(find_execution(bench.job(job), 1), nullptr);
  EXPECT_NE(find_execution(bench.job(job), 2), nullptr);
}

TEST(Archive, AHeadOfAnOlderVersionIsSplitByExecution) {
  JobHead head;
  auto past = std::make_shared<Past>();
  for (uint32_t n = 1; n <= 3; ++n) {
    past->executions.push_back({.number = n});
    past->transitions.push_back({JobState::Scheduled, JobState::Pending, WallTime{n * 10}, n, ""});
    past->transitions.push_back({JobState::Pending, JobState::Scheduled, WallTime{n * 10 + 1}, n, ""});
  }
  head.past = past;
  Draft draft(head);
  EXPECT_EQ(draft.first_new(), 7u);
  const std::vector<ArchivedExecution> archived = draft.archive();
  ASSERT_EQ(archived.size(), 3u);
  for (const ArchivedExecution& one : archived) {
    ASSERT_EQ(one.transitions.size(), 2u);
    for (const Transition& t : one.transitions) EXPECT_EQ(t.execution, one.execution.number);
  }
  EXPECT_EQ(draft.past.archived_transitions, 6u);
  EXPECT_EQ(draft.past.archived_until, WallTime{31});
}

// As the version before wrote it: without what archived executions need at its end.
TEST(Archive, APastOfAnOlderVersionIsRead) {
  Past past;
  past.transitions.push_back({JobState::Scheduled, JobState::Pending, WallTime{10}, 1, "assigned"});
  past.executions.push_back({.number = 1, .worker = WorkerId("w1")});
  past.executions[0].decision.winner = WorkerId("w1");
  past.progress_message = "half";
  std::string bytes = encode(past);
  ASSERT_EQ(bytes[0], 3) << "its version";
  bytes[0] = 2;
  bytes.resize(bytes.size() - 3);  // nobody refused it, no archived transitions, and no time
  EXPECT_EQ(*decode_past(bytes), past);
}

TEST(Archive, WhatAProviderCallsAnExecutionComesBackToo) {
  Past past;
  past.executions.push_back({.number = 1, .worker = WorkerId("w1")});
  past.executions.push_back({.number = 2, .worker = WorkerId("w2"), .provider_ref = "container 5"});
  for (Execution& e : past.executions) e.decision.winner = e.worker;
  EXPECT_EQ(*decode_past(encode(past)), past);
  const ArchivedExecution one{past.executions[1], {}};
  EXPECT_EQ(decode_archived(encode(one)), one);
  past.executions[1].provider_ref.clear();
  const std::string plain = encode(past);
  EXPECT_EQ(*decode_past(plain), past) << "as versions before wrote it";
}

TEST(Archive, ComesBackFromItsBytes) {
  Bench bench;
  const JobId job = a_job_that_failed(bench, 2);
  const ArchivedExecution& one = bench.rows.archived.at({job, 1});
  EXPECT_EQ(decode_archived(encode(one)), one);
}

}  // namespace
}  // namespace hodei::core::archive_test
