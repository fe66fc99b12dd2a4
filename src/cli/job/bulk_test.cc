// Commands about many jobs: selections, bulk changes, files of jobs, waiting, dry runs.
#include "src/cli/cli_fixture.h"
#include "src/cli/in_zone.h"

namespace hodei::cli::bulk_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::Job job(const std::string& id, v1::Job::State state, const std::string& name = "") {
  v1::Job out;
  out.set_short_id(id);
  out.set_state(state);
  out.set_name(name);
  return out;
}

TEST_F(CliTest, JobListAsksForASelectorAndABoundInTime) {
  EXPECT_EQ(run({"job", "list", "-l", "a=b,c!=d,e in (x,y)", "--since", "1h", "--until", "2023-11-14T22:00:00Z",
                 "--sort", "created"}),
            0)
      << err_;
  const v1::ListJobsRequest& request = server_.jobs.listed.at(0);
  EXPECT_EQ(request.labels().at("a"), "b");
  ASSERT_EQ(request.label_rules_size(), 2);
  EXPECT_EQ(request.label_rules(0).operator_(), v1::LabelRule::NotIn);
  EXPECT_THAT(request.label_rules(1).values(), ElementsAre("x", "y"));
  EXPECT_EQ(request.since().seconds(), 1'700'000'000 - 3600);
  EXPECT_EQ(request.until().seconds(), 1'699'999'200);
  EXPECT_TRUE(request.oldest_first());
  EXPECT_EQ(run({"job", "list", "-l", "a=="}), 0) << err_;
  EXPECT_EQ(run({"job", "list", "-l", "e in (x"}), 2);
  EXPECT_THAT(err_, HasSubstr("--label: 'e in (x' is not a label selector"));
}

TEST_F(CliTest, JobListSortsByWhatTheServerHasNoOrderFor) {
  server_.jobs.jobs = {job("j3", v1::Job::Running, "b"), job("j2", v1::Job::Failed, "c"),
                       job("j1", v1::Job::Pending, "a")};
  EXPECT_EQ(run({"job", "list", "--sort", "name", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "j1\nj3\nj2\n");
  EXPECT_EQ(run({"job", "list", "--sort", "-name", "-o", "name", "--limit", "2"}), 0) << err_;
  EXPECT_EQ(out_, "j2\nj3\n");
  EXPECT_THAT(err_, HasSubstr("these are 2 of 3 jobs"));
  EXPECT_EQ(run({"job", "list", "--sort", "nmae"}), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean 'name'?"));
  EXPECT_EQ(run({"job", "list", "--no-headers"}), 0) << err_;
  EXPECT_THAT(out_, testing::StartsWith("j3"));
}

TEST_F(CliTest, AJobIsFoundByItsNameOrByTheIdOfAnExecution) {
  server_.jobs.jobs = {job("j2", v1::Job::Running, "nightly")};
  server_.jobs.jobs[0].set_executions_total(1);
  EXPECT_EQ(run({"job", "get", "nightly", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "j2\n");
  EXPECT_EQ(server_.jobs.listed.at(0).name(), "nightly");
  EXPECT_EQ(run({"job", "get", "j2.1", "-o", "name"}), 0) << err_;
  EXPECT_EQ(server_.jobs.asked.back().job_id(), "j2");
  EXPECT_EQ(run({"job", "get", "weekly"}), 1);
  EXPECT_THAT(err_, HasSubstr("no job has the id or the name 'weekly'"));
}

TEST_F(CliTest, OfSeveralJobsWithOneNameTheNewestIsShownAndNoneIsChanged) {
  server_.jobs.jobs = {job("j9", v1::Job::Running, "nightly"), job("j2", v1::Job::Failed, "nightly")};
  EXPECT_EQ(run({"job", "explain", "nightly", "-o", "name"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("j9 is the newest of 2 jobs called nightly"));
  server_.jobs.jobs = {job("j9", v1::Job::Running, "nightly"), job("j2", v1::Job::Failed, "nightly")};
  EXPECT_EQ(run({"job", "cancel", "nightly"}), 1);
  EXPECT_THAT(err_, HasSubstr("2 jobs are called nightly: j9 (Running"));
  EXPECT_THAT(err_, HasSubstr("use the id of one"));
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());
}

TEST_F(CliTest, ANamespaceMeansThatNamespaceAlsoForOneJob) {
  v1::Job here = job("j2", v1::Job::Running);
  here.set_namespace_("team");
  server_.jobs.jobs = {here};
  EXPECT_EQ(run({"job", "get", "j2", "-n", "team"}), 0) << err_;
  EXPECT_EQ(run({"job", "logs", "j2", "-n", "5"}), 1);
  EXPECT_THAT(err_, HasSubstr("job j2 is in namespace team, not in 5"));
  env_["HODEI_NAMESPACE"] = "other";
  EXPECT_EQ(run({"job", "cancel", "j2"}), 1);
  EXPECT_EQ(run({"job", "cancel", "j2", "-A"}), 0) << err_;
}

TEST_F(CliTest, JobsAreCancelledByLabelAfterAQuestion) {
  server_.jobs.jobs = {job("j2", v1::Job::Running), job("j1", v1::Job::Pending)};
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7"}), 1);
  EXPECT_THAT(err_, HasSubstr("Cancel 2 jobs (j2, j1)? There is no terminal to ask on"));
  EXPECT_THAT(err_, HasSubstr("--yes"));
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());
  EXPECT_THAT(server_.jobs.listed.at(0).states(), ElementsAre(v1::Job::Pending, v1::Job::Scheduled, v1::Job::Running));

  std::string question;
  io_.ask = [&](std::string_view text) { return question = text, absl::StatusOr<std::string>("n"); };
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7"}), 1);
  EXPECT_THAT(question, HasSubstr("Cancel 2 jobs (j2, j1)? [y/N]"));
  EXPECT_THAT(err_, HasSubstr("nothing was changed"));
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());

  io_.ask = [](std::string_view) { return absl::StatusOr<std::string>("y"); };
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "j2\nj1\n");
  EXPECT_THAT(err_, HasSubstr("2 jobs cancelled"));
  EXPECT_EQ(server_.jobs.cancelled.size(), 2u);
}

TEST_F(CliTest, JobsAreRetriedByStateAndPrintTheirNewIds) {
  server_.jobs.jobs = {job("j2", v1::Job::Failed), job("j1", v1::Job::Failed)};
  EXPECT_EQ(run({"job", "retry", "--state", "Failed", "--yes"}), 0) << err_;
  EXPECT_THAT(server_.jobs.retried, ElementsAre("j2", "j1"));
  EXPECT_EQ(out_, "j20\nj10\n");
  EXPECT_EQ(run({"job", "retry", "--state", "Running", "--yes"}), 2);
  EXPECT_THAT(err_, HasSubstr("--state: Running: only a finished job is retried"));
  EXPECT_EQ(run({"job", "retry"}), 2);
  EXPECT_THAT(err_, HasSubstr("no jobs selected"));
  EXPECT_EQ(run({"job", "retry", "j1", "--state", "Failed"}), 2);
  EXPECT_EQ(run({"job", "delete", "--state", "Failed", "-y"}), 0) << err_;
  EXPECT_THAT(server_.jobs.deleted.at(0).job_ids(), ElementsAre("j2", "j1"));
}

TEST_F(CliTest, AnEmptyStateDoesNotMeanEveryJob) {
  server_.jobs.jobs = {job("j2", v1::Job::Running)};
  for (const char* verb : {"cancel", "retry", "delete"}) {
    for (const char* none : {"", " ", ","}) {
      EXPECT_EQ(run({"job", verb, "--state", none, "--yes"}), 2) << verb;
      EXPECT_THAT(err_, HasSubstr("--state: must not be empty")) << verb;
    }
  }
  EXPECT_THAT(server_.jobs.listed, IsEmpty());
}

TEST_F(CliTest, AnEmptyValueOfAFlagIsRefused) {
  for (const char* flag : {"--name", "--since", "--until", "--worker", "--label"}) {
    EXPECT_EQ(run({"job", "delete", "--state", "Failed", flag, "", "--yes"}), 2) << flag;
    EXPECT_THAT(err_, HasSubstr("must not be empty")) << flag;
  }
  for (const char* flag : {"--timeout", "--cpu", "--memory", "--pool", "--provider", "--priority"}) {
    EXPECT_EQ(run({"run", flag, "", "--", "true"}), 2) << flag;
  }
  EXPECT_THAT(server_.jobs.queued, IsEmpty());
  EXPECT_EQ(run({"run", "--detach", "-e", "EMPTY=", "--", "echo", ""}), 0) << err_;
}

TEST_F(CliTest, WaitingForNothingIsNoSuccess) {
  EXPECT_EQ(run({"job", "wait", "--label", "no=such"}), 1);
  EXPECT_THAT(err_, HasSubstr("no jobs match"));
  EXPECT_EQ(run({"job", "wait", "j1", "--label", "a=b"}), 2);
}

TEST_F(CliTest, ANameInTheFormOfAnIdIsFound) {
  server_.jobs.no_such_id = true;
  server_.jobs.jobs = {job("j2", v1::Job::Running, "java8")};
  EXPECT_EQ(run({"job", "cancel", "java8", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "j2\n");
  server_.jobs.jobs = {job("j3", v1::Job::Running, "jq.1")};
  EXPECT_EQ(run({"job", "cancel", "jq.1", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "j3\n");
}

TEST_F(CliTest, AnExecutionThatIsNotThereIsNotItsJob) {
  server_.jobs.jobs = {job("j2", v1::Job::Running)};
  EXPECT_EQ(run({"job", "get", "j2.9"}), 1);
  EXPECT_THAT(err_, HasSubstr("so there is no j2.9"));
}

TEST_F(CliTest, SeveralCancelledJobsAreOneListOfData) {
  EXPECT_EQ(run({"job", "cancel", "j1", "j2", "-o", "json"}), 0) << err_;
  EXPECT_EQ(out_[0], '[');
  EXPECT_THAT(out_, HasSubstr("\"short_id\": \"j2\""));
  EXPECT_EQ(run({"job", "cancel", "j1", "-o", "json"}), 0) << err_;
  EXPECT_EQ(out_[0], '{');
}

TEST_F(CliTest, AFileOfJobsIsQueuedAsOneBatch) {
  const std::string file = temp_file(
      "jobs.jsonl", "{\"command\": {\"shell\": {\"cmd\": \"a\"}}}\n{\"command\": {\"shell\": {\"cmd\": \"b\"}}}\n");
  EXPECT_EQ(run({"job", "submit", "--file", file, "--label", "batch=7", "-n", "team"}), 0) << err_;
  EXPECT_EQ(out_, "j1\nj2\n");
  const v1::QueueJobBatchRequest& batch = server_.jobs.batches.at(0);
  EXPECT_EQ(batch.namespace_(), "team");
  ASSERT_EQ(batch.specs_size(), 2);
  EXPECT_EQ(batch.specs(1).command().shell().cmd(), "b");
  EXPECT_EQ(batch.specs(1).labels().at("batch"), "7");
  EXPECT_NE(batch.specs(0).idempotency_key(), batch.specs(1).idempotency_key());
  EXPECT_EQ(run({"run", "--file", file}), 2);
  EXPECT_THAT(err_, HasSubstr("contains 2 jobs, but this command takes one; submit them with `hodei job submit"));
}

TEST_F(CliTest, JobsFromTemplatesInAFileAreQueuedOneByOne) {
  stdin_ = "template: greet\nparameters: {who: a}\n---\ntemplate: greet\nparameters: {who: b}\n";
  EXPECT_EQ(run({"job", "submit", "--file", "-", "-o", "json"}), 0) << err_;
  ASSERT_EQ(server_.jobs.queued.size(), 2u);
  EXPECT_EQ(server_.jobs.queued[1].parameters().at("who"), "b");
}

TEST_F(CliTest, AFileThatFailsHalfWaySaysWhatWasQueued) {
  stdin_ = "template: a\n---\ntemplate: b\n";
  server_.jobs.queue_errors = {grpc::Status::OK, {grpc::NOT_FOUND, "there is no template 'b'"}};
  EXPECT_EQ(run({"job", "submit", "--file", "-"}), 1);
  EXPECT_THAT(err_, HasSubstr("job 2 of the file: there is no template 'b'"));
  EXPECT_THAT(err_, HasSubstr("1 of 2 jobs were queued before this one"));
}

TEST_F(CliTest, ADryRunQueuesNothingAndShowsTheDecision) {
  server_.scheduler.decision.set_placed(true);
  server_.scheduler.decision.set_worker_id("w1");
  server_.scheduler.decision.set_considered(2);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "--dry-run", "--cpu", "500m", "--", "true"},
        std::vector<std::string>{"job", "submit", "--dry-run", "--cpu", "500m", "--", "true"}}) {
    EXPECT_EQ(run(command), 0) << err_;
    EXPECT_THAT(out_, HasSubstr("The job would be placed on worker w1: the best of 2 workers."));
  }
  EXPECT_TRUE(server_.scheduler.previewed.at(0).dry_run());
  EXPECT_EQ(server_.scheduler.previewed.at(0).spec().resources().cpu_cores(), 0.5);
  EXPECT_THAT(server_.jobs.queued, IsEmpty());
  server_.scheduler.decision.set_placed(false);
  server_.scheduler.decision.set_waiting_for("no worker has provider docker");
  EXPECT_EQ(run({"job", "submit", "--dry-run", "--", "true"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("The job would wait: no worker has provider docker."));
}

TEST_F(CliTest, HabitsOfOtherProgramsAreAnsweredWithTheWordsHere) {
  EXPECT_EQ(run({"ps"}), 2);
  EXPECT_THAT(err_, HasSubstr("has no command 'ps'; here that is hodei job list"));
  EXPECT_EQ(run({"job", "describe", "j1"}), 2);
  EXPECT_THAT(err_, HasSubstr("here that is hodei job get JOB"));
  EXPECT_EQ(run({"worker", "cordon", "w1"}), 2);
  EXPECT_THAT(err_, HasSubstr("here that is hodei worker drain WORKER"));
  EXPECT_EQ(run({"run", "-d", "--", "true"}), 2);
  EXPECT_THAT(err_, HasSubstr("here that is --detach"));
}

TEST_F(CliTest, WaitEndsWithTheJobsAndTellsHow) {
  server_.jobs.jobs = {job("j1", v1::Job::Running), job("j1", v1::Job::Succeeded)};
  EXPECT_EQ(run({"job", "wait", "j1"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("j1  Succeeded"));
  v1::Job failed = job_in(v1::Job::Failed, 7);
  server_.jobs.jobs = {failed};
  EXPECT_EQ(run({"job", "wait", "j1"}), 1);
  EXPECT_EQ(run({"job", "wait", "j1", "--exit-code"}), 7);
  EXPECT_EQ(run({"job", "wait"}), 2);
}

TEST_F(CliTest, WaitGivesUpWhenItsTimeIsOver) {
  server_.jobs.jobs = {job("j1", v1::Job::Running)};
  EXPECT_EQ(run({"job", "wait", "j1", "--timeout", "0"}), 124);
  EXPECT_THAT(err_, HasSubstr("job j1 has not ended within 0"));
}

TEST_F(CliTest, WaitLooksForAServerNoLongerThanItIsToWait) {
  server_.stop();
  const int64_t before = clock_.us;
  EXPECT_EQ(run({"job", "wait", "j1", "--timeout", "1s"}), 1);
  EXPECT_THAT(err_, HasSubstr("no server answers"));
  EXPECT_LE(clock_.us - before, 1'000'000);
}

TEST_F(CliTest, TwoValuesOfOneLabelAreBothAskedFor) {
  EXPECT_EQ(run({"job", "list", "-l", "a=b,a=c"}), 0) << err_;
  const v1::ListJobsRequest& request = server_.jobs.listed.at(0);
  EXPECT_EQ(request.labels().at("a"), "b");
  ASSERT_EQ(request.label_rules_size(), 1) << "no job has both, and none is chosen";
  EXPECT_THAT(request.label_rules(0).values(), ElementsAre("c"));
}

TEST_F(CliTest, BoundsInTimeAreInUtcIfThatIsAskedFor) {
  const InZone zone("Asia/Kolkata");
  EXPECT_EQ(run({"job", "list", "--utc", "--since", "2023-11-14 22:13:20"}), 0) << err_;
  EXPECT_EQ(server_.jobs.listed.back().since().seconds(), 1'700'000'000);
  EXPECT_EQ(run({"job", "list", "--since", "2023-11-15 03:43:20"}), 0) << err_;
  EXPECT_EQ(server_.jobs.listed.back().since().seconds(), 1'700'000'000);
}

TEST_F(CliTest, JobsAreSortedByTheTimeTheyRanNotByTheClock) {
  v1::Job interrupted = job("j1", v1::Job::Succeeded);  // ran for a second of a hundred
  interrupted.mutable_started_at()->set_seconds(1000);
  interrupted.mutable_ended_at()->set_seconds(1100);
  interrupted.set_run_ms(1000);
  v1::Job steady = job("j2", v1::Job::Succeeded);
  steady.mutable_started_at()->set_seconds(1000);
  steady.mutable_ended_at()->set_seconds(1010);
  server_.jobs.jobs = {steady, interrupted};
  EXPECT_EQ(run({"job", "list", "--sort", "time", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "j1\nj2\n");
}

TEST_F(CliTest, AChoiceIsAllOfItsPages) {
  server_.jobs.page = 2;
  for (const char* id : {"j5", "j4", "j3", "j2", "j1"}) server_.jobs.jobs.push_back(job(id, v1::Job::Running));
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7", "--yes"}), 0) << err_;
  EXPECT_EQ(server_.jobs.cancelled.size(), 5u);
  EXPECT_THAT(err_, HasSubstr("5 jobs cancelled"));
}

TEST_F(CliTest, AChoiceOfTooManyJobsChangesNone) {
  for (int i = 1; i <= 10'001; ++i) server_.jobs.jobs.push_back(job("j" + std::to_string(i), v1::Job::Running));
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7", "--yes"}), 1);
  EXPECT_THAT(err_, HasSubstr("more than 10000 jobs match"));
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());
}

TEST_F(CliTest, DeletesAsManyAsWereChosen) {
  for (int i = 1; i <= 501; ++i) server_.jobs.jobs.push_back(job("j" + std::to_string(i), v1::Job::Failed));
  EXPECT_EQ(run({"job", "delete", "--state", "Failed", "--yes"}), 0) << err_;
  EXPECT_EQ(out_, "501 jobs deleted\n");
}

TEST_F(CliTest, OnlyAYesIsAYes) {
  server_.jobs.jobs = {job("j1", v1::Job::Running)};
  for (const char* answer : {"", " ", "n", "no", "yep"}) {
    io_.ask = [&](std::string_view) { return absl::StatusOr<std::string>(answer); };
    EXPECT_EQ(run({"job", "cancel", "--label", "batch=7"}), 1) << answer;
  }
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());
  io_.ask = [](std::string_view) { return absl::StatusOr<std::string>("yes"); };
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7"}), 0) << err_;
}

TEST_F(CliTest, WithoutAStateOnlyJobsThatFailedByThemselvesAreRetried) {
  server_.jobs.jobs = {job("j1", v1::Job::Failed)};
  EXPECT_EQ(run({"job", "retry", "--label", "batch=7", "--yes"}), 0) << err_;
  EXPECT_THAT(server_.jobs.listed.at(0).states(), ElementsAre(v1::Job::Failed, v1::Job::Timeout));
}

TEST_F(CliTest, JobsThatEndMeanwhileAreNoErrorsOfABulkCancel) {
  server_.jobs.jobs = {job("j2", v1::Job::Running), job("j1", v1::Job::Running)};
  server_.jobs.cancel_errors["j1"] = {grpc::FAILED_PRECONDITION, "job j1 has ended already"};
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7", "--yes"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("1 job cancelled, 1 had ended already"));
  server_.jobs.jobs.clear();
  EXPECT_EQ(run({"job", "cancel", "j1"}), 1) << "one that was named";
}

TEST_F(CliTest, ABulkCancelStopsWhereTheServerGoesAway) {
  server_.jobs.jobs = {job("j3", v1::Job::Running), job("j2", v1::Job::Running), job("j1", v1::Job::Running)};
  server_.jobs.cancel_errors["j2"] = {grpc::UNAVAILABLE, "gone"};
  EXPECT_EQ(run({"job", "cancel", "--label", "batch=7", "--yes"}), 1);
  EXPECT_THAT(err_, HasSubstr("stopped after 1 of 3 jobs; run it again for the rest"));
  EXPECT_EQ(server_.jobs.cancelled.size(), 1u);
}

TEST_F(CliTest, SeveralJobsAreAListOfDataAlsoIfOneOfThemFails) {
  server_.jobs.cancel_errors["j1"] = {grpc::NOT_FOUND, "job j1 is not known"};
  EXPECT_EQ(run({"job", "cancel", "j1", "j2", "-o", "json"}), 1);
  ASSERT_FALSE(out_.empty());
  EXPECT_EQ(out_[0], '[');
}

TEST_F(CliTest, AnOlderExecutionDoesNotStandForItsJobWhereThatWouldEnd) {
  v1::Job second = job("j2", v1::Job::Running);
  second.set_executions_total(2);
  server_.jobs.jobs = {second};
  EXPECT_EQ(run({"job", "cancel", "j2.1"}), 1);
  EXPECT_THAT(err_, HasSubstr("j2.1 is not the newest execution of job j2"));
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());
  EXPECT_EQ(run({"job", "cancel", "j2.2"}), 0) << err_;
}

TEST_F(CliTest, ANameIsAllOfTheName) {
  server_.jobs.jobs = {job("j2", v1::Job::Running, "nightly-2")};  // an older server looks for names that contain it
  EXPECT_EQ(run({"job", "cancel", "nightly"}), 1);
  EXPECT_THAT(err_, HasSubstr("no job has the id or the name 'nightly'"));
  EXPECT_THAT(server_.jobs.cancelled, IsEmpty());
}

TEST_F(CliTest, OfManyJobsWithOneNameSomeAreShown) {
  for (const char* id : {"j9", "j8", "j7", "j6", "j5", "j4"})
    server_.jobs.jobs.push_back(job(id, v1::Job::Running, "nightly"));
  EXPECT_EQ(run({"job", "cancel", "nightly"}), 1);
  EXPECT_THAT(err_, HasSubstr("more than 5 jobs are called nightly: j9"));
  EXPECT_THAT(err_, testing::Not(HasSubstr("j4 (")));
}

TEST_F(CliTest, WaitFailsForACancelledJob) {
  server_.jobs.jobs = {job("j1", v1::Job::Cancelled)};
  EXPECT_EQ(run({"job", "wait", "j1"}), 1);
  EXPECT_THAT(out_, HasSubstr("j1  Cancelled"));
}

}  // namespace
}  // namespace hodei::cli::bulk_test
