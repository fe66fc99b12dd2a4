// Finished jobs that go for good.
#include "src/core/engine_harness.h"

namespace hodei::core::forget_test {
namespace {

TEST(Forget, AFinishedJobGoesAndThePersonIsRecorded) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job).finishes(job);
  ASSERT_TRUE(bench.rows.done.contains(job));
  EXPECT_TRUE(bench.ask_as<Forgotten>("local", ForgetJobs{{{job, "default"}}, "too big"}).live.empty());
  EXPECT_FALSE(bench.rows.done.contains(job));
  ASSERT_EQ(bench.rows.audit.size(), 1u);
  EXPECT_EQ(bench.rows.audit[0].action, "job.delete");
  EXPECT_EQ(bench.rows.audit[0].subject, short_id(job));
  EXPECT_EQ(bench.rows.audit[0].ns, "default");
  EXPECT_EQ(bench.rows.audit[0].principal, "local");
  EXPECT_EQ(bench.rows.audit[0].detail, "too big");
}

TEST(Forget, ALiveJobIsLeftAlone) {
  Bench bench;
  const JobId waits = bench.submit(a_job());
  const Forgotten answer =
      bench.ask_as<Forgotten>("local", ForgetJobs{{{waits, "default"}, {JobId{404}, "default"}}, ""});
  EXPECT_EQ(answer.live, std::vector<JobId>{waits});
  EXPECT_EQ(bench.state(waits), JobState::Pending);
  bench.worker("w1").joins().takes(waits).finishes(waits);
  EXPECT_EQ(bench.state(waits), JobState::Succeeded);
}

TEST(Forget, WhatARuleLetsGoIsNotInTheAuditTrail) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.cancel(job);
  bench.ask<Forgotten>(ForgetJobs{{{job, "default"}}, ""});
  EXPECT_FALSE(bench.rows.done.contains(job));
  EXPECT_TRUE(bench.rows.audit.empty());
}

TEST(Forget, TheIdempotencyKeyOfAJobThatAPersonDeletesIsFreeAgain) {
  Bench bench;
  const NewJob keyed = a_job().idempotent("once").made();
  const JobId first = bench.ask<Submitted>(Submit{{keyed}}).jobs[0].job;
  bench.cancel(first);
  bench.ask_as<Forgotten>("local", ForgetJobs{{{first, "default", keyed.idempotency}}, ""});
  EXPECT_TRUE(bench.rows.idempotency.empty());
  const Submitted::One again = bench.ask<Submitted>(Submit{{keyed}}).jobs[0];
  EXPECT_FALSE(again.existing);
  EXPECT_NE(again.job, first);
  // Deleted once more, as by a request that was sent again: the key is another job's by now.
  bench.ask_as<Forgotten>("local", ForgetJobs{{{first, "default", keyed.idempotency}}, ""});
  EXPECT_EQ(bench.ask<Submitted>(Submit{{keyed}}).jobs[0].job, again.job);
}

TEST(Forget, TheIdempotencyKeyOfAJobThatARuleLetsGoStays) {
  Bench bench;
  const NewJob keyed = a_job().idempotent("once").made();
  const JobId first = bench.ask<Submitted>(Submit{{keyed}}).jobs[0].job;
  bench.cancel(first);
  bench.ask<Forgotten>(ForgetJobs{{{first, "default", keyed.idempotency}}, ""});
  const Submitted::One again = bench.ask<Submitted>(Submit{{keyed}}).jobs[0];
  EXPECT_TRUE(again.existing) << "who did not hear of the job must not start it a second time";
  EXPECT_EQ(again.job, first);
}

TEST(Forget, TooManyAtOnceAreRefused) {
  Bench bench;
  ForgetJobs command;
  for (uint64_t n = 1; n <= kMaxForgottenAtOnce + 1; ++n) command.jobs.push_back({JobId{n}, "default"});
  EXPECT_EQ(bench.refused(command).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hodei::core::forget_test
