// `hodei run` end to end.
#include "src/cli/cli_fixture.h"
#include "src/cli/job/run_notes.h"

namespace hodei::cli::run_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

using RunTest = CliTest;

TEST_F(RunTest, RunWritesEachStreamToItsOwnAndEndsWithTheExitCode) {
  server_.logs.scripts = {{{chunk(1, 0, "out\n"), chunk(1, 4, "err\n", true), chunk(1, 8, "no newline")}}};
  server_.jobs.jobs = {job_in(v1::Job::Failed, 7)};
  EXPECT_EQ(run({"run", "--", "sh", "-c", "echo out; [x] --name"}), 7);
  EXPECT_EQ(out_, "out\nno newline");
  EXPECT_EQ(err_, "err\n");
  ASSERT_THAT(server_.jobs.queued, SizeIs(1));
  const v1::JobSpec& spec = server_.jobs.queued[0].spec();
  EXPECT_EQ(spec.command().shell().cmd(), "sh");
  EXPECT_THAT(spec.command().shell().args(), ElementsAre("-c", "echo out; [x] --name"));
  EXPECT_FALSE(spec.idempotency_key().empty());
}

TEST_F(RunTest, RunResumesABrokenLogWithoutADoubledOrMissingByte) {
  server_.logs.scripts = {{{chunk(1, 0, "one\n")}, {grpc::UNAVAILABLE, "restarting"}},
                          {{}, {grpc::UNAVAILABLE, "still restarting"}},
                          {{chunk(1, 4, "two\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  EXPECT_EQ(run({"run", "--", "true"}), 0);
  EXPECT_EQ(out_, "one\ntwo\n");
  EXPECT_EQ(err_, "");
  ASSERT_THAT(server_.logs.requests, SizeIs(3));
  EXPECT_EQ(server_.logs.requests[0].execution(), 0);
  EXPECT_EQ(server_.logs.requests[2].execution(), 1);
  EXPECT_EQ(server_.logs.requests[2].from_offset(), 4);
}

TEST_F(RunTest, RunSurvivesAServerThatGoesAwayAndComesBack) {
  server_.logs.scripts = {{{chunk(1, 0, "one\n")}, {grpc::UNAVAILABLE, "going away"}}, {{chunk(1, 4, "two\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  int pauses = 0;
  time_passes_ = false;  // gRPC takes its own time to connect again
  on_pause_ = [&] {
    if (++pauses == 1) server_.stop();
    if (pauses == 4) server_.start();
    return true;
  };
  EXPECT_EQ(run({"run", "--", "true"}), 0);
  EXPECT_EQ(out_, "one\ntwo\n");
  EXPECT_GE(pauses, 4);
}

TEST_F(RunTest, RunGivesUpOnAServerThatStaysAwayAndSaysHowToComeBack) {
  server_.logs.scripts = {{{chunk(1, 0, "one\n")}, {grpc::UNAVAILABLE, "going away"}}};
  on_pause_ = [&] {
    server_.stop();
    return true;
  };
  EXPECT_EQ(run({"run", "--reconnect-for", "20s", "--", "true"}), 125);
  EXPECT_THAT(err_, HasSubstr("hodei job logs --follow j1"));
  EXPECT_THAT(err_, Not(HasSubstr("continues"))) << "it may have been stopped together with the server";
}

TEST_F(RunTest, RunAsksAgainForWhatWasLeftOutBecauseItWasSlow) {
  v1::LogChunk gap = chunk(1, 100, "late\n");
  gap.mutable_gap()->set_reason("slow_subscriber");
  server_.logs.scripts = {{{chunk(1, 0, "one\n"), gap}}, {{chunk(1, 4, "two\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  EXPECT_EQ(run({"run", "--", "true"}), 0);
  EXPECT_EQ(out_, "one\ntwo\n");
  ASSERT_THAT(server_.logs.requests, SizeIs(2));
  EXPECT_EQ(server_.logs.requests[1].from_offset(), 4);
}

TEST_F(RunTest, RunAsksForTheRestOfALogThatIsShorterThanTheJobSays) {
  server_.logs.scripts = {{{chunk(1, 0, "one\n")}}, {{chunk(1, 4, "two\n")}}};
  v1::Job job = job_in(v1::Job::Succeeded);
  v1::Execution& execution = *job.add_executions();
  execution.set_number(1);
  execution.set_log_bytes(8);
  server_.jobs.jobs = {job};
  EXPECT_EQ(run({"run", "--", "true"}), 0) << err_;
  EXPECT_EQ(out_, "one\ntwo\n");
}

TEST_F(RunTest, TwoShortBreaksFarApartAreNotOneLongOne) {
  server_.logs.scripts = {{{chunk(1, 0, "one\n")}, {grpc::UNAVAILABLE, "restarting"}},
                          {{chunk(1, 4, "two\n")}, {grpc::UNAVAILABLE, "restarting"}},
                          {{chunk(1, 8, "three\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  on_pause_ = [&] { return clock_.us += 3'600'000'000, true; };
  EXPECT_EQ(run({"run", "--reconnect-for", "20s", "--", "true"}), 0) << err_;
  EXPECT_EQ(out_, "one\ntwo\nthree\n");
  EXPECT_EQ(err_, "");
}

TEST_F(RunTest, RunFollowsEveryExecution) {
  v1::LogChunk end = chunk(1, 0, "first\n");
  end.set_end_of_execution(true);
  server_.logs.scripts = {{{end}, {grpc::UNAVAILABLE, "x"}}, {{chunk(1, 0, "first\n"), chunk(2, 0, "second\n")}}};
  v1::Job job = job_in(v1::Job::Succeeded);
  for (int i = 1; i <= 2; ++i) job.add_executions()->set_number(i);
  server_.jobs.jobs = {job};
  EXPECT_EQ(run({"run", "--attempts", "2", "--", "true"}), 0);
  EXPECT_EQ(out_, "first\nsecond\n");
}

TEST_F(RunTest, AResumedExecutionIsFollowedByTheNextOne) {
  v1::LogChunk rest = chunk(1, 2, "b\n");
  rest.set_end_of_execution(true);
  server_.logs.scripts = {{{chunk(1, 0, "a\n")}, {grpc::UNAVAILABLE, "x"}},
                          {{rest}},
                          {{chunk(1, 0, "a\n"), chunk(1, 2, "b\n"), chunk(2, 0, "c\n")}}};
  v1::Job running = job_in(v1::Job::Running);
  for (int i = 1; i <= 2; ++i) running.add_executions()->set_number(i);
  v1::Job ended = running;
  ended.set_state(v1::Job::Succeeded);
  server_.jobs.jobs = {running, ended};
  EXPECT_EQ(run({"run", "--", "true"}), 0);
  EXPECT_EQ(out_, "a\nb\nc\n");
}

TEST_F(RunTest, RunWaitsForTheEndOfAJobWhoseLogIsAlreadyClosed) {
  v1::ExecutionEvent event;
  event.mutable_transition()->set_to(v1::Job::Timeout);
  event.set_final(true);
  server_.jobs.events = {{{event}}};
  server_.jobs.jobs = {job_in(v1::Job::Running), job_in(v1::Job::Timeout)};
  EXPECT_EQ(run({"run", "--timeout", "1s", "--", "sleep", "9"}), 124);
  EXPECT_EQ(server_.jobs.event_streams, 1);
  EXPECT_EQ(server_.jobs.queued[0].spec().timeout_ms(), 1000);
  EXPECT_THAT(err_, HasSubstr("job j1 timed out"));
}

TEST_F(RunTest, RunLeavesAJobWhoseOutputNobodyReadsAndSaysHowToFollowIt) {
  out_error_ = EPIPE;
  server_.logs.scripts = {{{chunk(1, 0, "y\n"), chunk(1, 2, "y\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Running)};
  EXPECT_EQ(run({"run", "--", "yes"}), 125);
  EXPECT_THAT(server_.jobs.cancelled, SizeIs(0));
  EXPECT_THAT(err_, HasSubstr("cannot write the output of job j1: the reader has closed the pipe"));
  EXPECT_THAT(err_, HasSubstr("follow it with `hodei job logs --follow j1`"));
}

TEST_F(RunTest, RunOnAFullDiskSaysSoAndThatTheJobHasEnded) {
  out_error_ = ENOSPC;
  server_.logs.scripts = {{{chunk(1, 0, "y\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  EXPECT_EQ(run({"run", "--", "echo", "y"}), 125);
  EXPECT_THAT(server_.jobs.cancelled, SizeIs(0));
  EXPECT_THAT(err_, HasSubstr("No space left on device"));
  EXPECT_THAT(err_, HasSubstr("the job has ended (Succeeded); see all of its output with `hodei job logs j1`"));
}

TEST_F(RunTest, RunCancelsAJobWhoseOutputNobodyReadsOnlyIfItIsToldTo) {
  out_error_ = EPIPE;
  server_.logs.scripts = {{{chunk(1, 0, "y\n"), chunk(1, 2, "y\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Cancelled)};
  EXPECT_EQ(run({"run", "--cancel-on-close", "--", "yes"}), 130);
  EXPECT_THAT(server_.jobs.cancelled, SizeIs(1));
}

TEST_F(RunTest, EveryCommandFailsThatCannotWriteItsOutput) {
  out_error_ = ENOSPC;
  server_.jobs.jobs = {job_in(v1::Job::Running)};
  server_.logs.scripts = {{{chunk(1, 0, "y\n")}}, {{chunk(1, 0, "y\n")}}};
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},           {"--version"},         {"run", "--help"},          {"job", "list"},
      {"job", "get", "j1"}, {"job", "logs", "j1"}, {"worker", "list"},         {"completion", "bash"},
      {"status"},           {"config", "show"},    {"job", "logs", "-f", "j1"}};
  for (const std::vector<std::string>& command : commands) {
    EXPECT_EQ(run(command), 1) << testing::PrintToString(command);
    EXPECT_THAT(err_, EndsWith("hodei: error: cannot write to standard output: No space left on device\n"))
        << testing::PrintToString(command);
  }
}

TEST_F(RunTest, RunSaysThatTheServerIsAwayAndWhenItIsBack) {
  server_.logs.scripts = {{{chunk(1, 0, "one\n")}, {grpc::UNAVAILABLE, "going away"}}, {{chunk(1, 4, "two\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  int pauses = 0;
  time_passes_ = false;  // gRPC takes its own time to connect again
  on_pause_ = [&] {
    if (++pauses == 1) server_.stop();
    if (pauses <= 2) clock_.us += 1'000'000;
    if (err_.find("is away") != std::string::npos && !server_.is_up()) server_.start();
    return true;
  };
  EXPECT_EQ(run({"run", "--", "true"}), 0);
  EXPECT_EQ(out_, "one\ntwo\n");
  const size_t away = err_.find(" is away; job j1 is not lost");
  ASSERT_NE(away, std::string::npos) << err_;
  EXPECT_NE(err_.find("hodei: the server is back after ", away), std::string::npos) << err_;
}

v1::ExecutionEvent queued_again(const std::string& execution, const std::string& reason) {
  v1::ExecutionEvent event;
  event.mutable_transition()->set_from(v1::Job::Running);
  event.mutable_transition()->set_to(v1::Job::Pending);
  event.mutable_transition()->set_execution_id(execution);
  event.mutable_transition()->set_reason(reason);
  return event;
}

TEST_F(RunTest, RunSaysOnceOfEachExecutionThatTheJobBeginsAgain) {
  const v1::ExecutionEvent first = queued_again("j1.1", "interrupted: worker dev was stopped");
  const v1::ExecutionEvent second = queued_again("j1.2", "exited with 3");
  server_.jobs.events = {{{first}, {grpc::UNAVAILABLE, "the server goes away"}}, {{first, second}}};
  server_.jobs.jobs = {job_in(v1::Job::Running)};
  ClientOptions options;
  options.servers = parse_addresses(server_.address()).value();
  options.clock = io_.clock;
  options.pause = io_.pause;
  Client client(options);
  std::mutex mutex;
  std::vector<std::string> notes;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return notes.size();
  };
  const auto note = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    notes.push_back(text);
  };
  {
    RunNotes told(client, "j1", false, note, 1ms);
    told.start();
    const SystemClock clock;
    for (const MonoTime end = clock.now().mono + 20s; count() < 2 && clock.now().mono < end;) pause_for(1ms);
  }
  EXPECT_THAT(notes, ElementsAre("job j1 is queued again and will start from the beginning: interrupted: worker dev "
                                 "was stopped",
                                 "job j1 is queued again and will start from the beginning: exited with 3"));
}

TEST_F(RunTest, DetachPrintsTheIdOnly) {
  EXPECT_EQ(run({"run", "--detach", "--", "true"}), 0);
  EXPECT_EQ(out_, "j1\n");
  EXPECT_EQ(err_, "");
}

TEST_F(RunTest, ASubmissionIsSentAgainWithTheSameKey) {
  server_.jobs.queue_errors = {{grpc::UNAVAILABLE, "loading"}, {grpc::UNAVAILABLE, "loading"}};
  EXPECT_EQ(run({"job", "submit", "--", "true"}), 0);
  ASSERT_THAT(server_.jobs.queued, SizeIs(3));
  EXPECT_EQ(server_.jobs.queued[0].spec().idempotency_key(), server_.jobs.queued[2].spec().idempotency_key());
}

}  // namespace
}  // namespace hodei::cli::run_test
