#include "src/cli/job/job_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::cli::job_view_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kStart = 1'700'000'000;

v1::Job a_finished_job() {
  v1::Job job;
  job.set_id("00000000-0000-8000-8000-000000000001");
  job.set_short_id("j1");
  job.set_name("build");
  job.set_namespace_("default");
  job.set_state(v1::Job::Failed);
  job.set_reason("exit code 7");
  job.set_failure("non_zero_exit");
  job.set_exit_code(7);
  job.set_attempts(1);
  job.set_max_attempts(3);
  job.mutable_created_at()->set_seconds(kStart);
  job.mutable_started_at()->set_seconds(kStart + 1);
  job.mutable_ended_at()->set_seconds(kStart + 13);
  v1::ShellCommand& shell = *job.mutable_spec()->mutable_command()->mutable_shell();
  shell.set_cmd("sh");
  shell.add_args("-c");
  shell.add_args("echo it's; exit 7");
  job.mutable_spec()->set_timeout_ms(90'000);
  v1::Execution& execution = *job.add_executions();
  execution.set_id("j1.1");
  execution.set_number(1);
  execution.set_worker_id("w1");
  execution.set_state(v1::Job::Failed);
  execution.set_exit_code(7);
  *execution.mutable_started_at() = job.started_at();
  *execution.mutable_ended_at() = job.ended_at();
  execution.mutable_usage()->set_max_memory_kb(2048);
  v1::Transition& first = *job.add_history();
  first.set_to(v1::Job::Pending);
  *first.mutable_at() = job.created_at();
  first.set_reason("submitted");
  return job;
}

ViewOptions a_minute_later(bool wide = false) { return {{}, wide, WallTime{(kStart + 60) * 1'000'000}}; }

TEST(JobPage, ShowsHistoryExecutionsTimesAndReasons) {
  const std::string page = job_page(a_finished_job(), a_minute_later());
  EXPECT_THAT(page, HasSubstr("Job j1  build\n"));
  EXPECT_THAT(page, HasSubstr("State        Failed\n"));
  EXPECT_THAT(page, HasSubstr("Reason       exit code 7\n"));
  EXPECT_THAT(page, HasSubstr("Exit         7\n"));
  EXPECT_THAT(page, HasSubstr("Attempts     1 of 3\n"));
  EXPECT_THAT(page, HasSubstr("Command      sh -c 'echo it'\\''s; exit 7'\n"));
  EXPECT_THAT(page, HasSubstr("Time limit   1m30s\n"));
  EXPECT_THAT(page, HasSubstr("Created      2023-11-14T22:13:20.000Z (1m00s ago)\n"));
  EXPECT_THAT(page, HasSubstr("Time         12.0s\n"));
  EXPECT_THAT(page, HasSubstr("j1.1"));
  EXPECT_THAT(page, HasSubstr("2 MiB"));
  EXPECT_THAT(page, HasSubstr("submitted"));
  EXPECT_THAT(page, Not(HasSubstr("Template")));
}

TEST(JobPage, TellsPhasesOutputsSecretsAndWhatToDo) {
  v1::Job job = a_finished_job();
  job.set_suggestion("Look at the end of the log.");
  (*job.mutable_outputs())["rows"] = "12";
  v1::Execution& execution = *job.mutable_executions(0);
  execution.mutable_scheduled_at()->set_seconds(kStart);
  execution.mutable_prepared_at()->set_seconds(kStart);
  execution.mutable_prepared_at()->set_nanos(250'000'000);
  execution.add_secrets("token");
  execution.set_dropped_bytes(2048);
  execution.set_dropped_lines(3);
  const std::string page = job_page(job, a_minute_later());
  EXPECT_THAT(page, HasSubstr("What to do   Look at the end of the log.\n"));
  EXPECT_THAT(page, HasSubstr("Phases       waited 0ms, prepared in 250ms, started in 750ms, ran 12.0s\n"));
  EXPECT_THAT(page, HasSubstr("Outputs      rows=12\n"));
  EXPECT_THAT(page, HasSubstr("Secrets      token\n"));
  EXPECT_THAT(page, HasSubstr("Not kept     2 KiB of output, 3 lines\n"));
}

TEST(JobTable, IsShortUnlessItIsWide) {
  const v1::Job job = a_finished_job();
  EXPECT_THAT(job_table({&job}, a_minute_later()), Not(HasSubstr(job.id())));
  EXPECT_THAT(job_table({&job}, a_minute_later(true)), HasSubstr(job.id()));
  EXPECT_THAT(job_table({&job}, a_minute_later()), HasSubstr("1/3"));
}

TEST(Explanation, OfAPlacedJobNamesTheWinnerAndItsScore) {
  v1::SchedulingDecision decision;
  decision.set_placed(true);
  decision.set_worker_id("w1");
  decision.set_execution_id("j1.1");
  decision.set_considered(3);
  decision.mutable_score()->set_total(80);
  decision.mutable_score()->set_capacity(30);
  v1::Job job = a_finished_job();
  const std::string text = decision_text(decision, job, a_minute_later());
  EXPECT_THAT(text, HasSubstr("placed on worker w1 as j1.1: the best of 3 workers."));
  EXPECT_THAT(text, HasSubstr("score 80.0 = free capacity 30.0"));
}

}  // namespace
}  // namespace hodei::cli::job_view_test
