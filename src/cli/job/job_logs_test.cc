// `hodei job logs` against a server that sends what the test says.
#include <sstream>

#include <nlohmann/json.hpp>

#include "src/cli/cli_fixture.h"

namespace hodei::cli::job_logs_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

class JobLogs : public CliTest {
 protected:
  static v1::LogChunk gap(int64_t bytes, int64_t next_offset) {
    v1::LogChunk out;
    out.set_execution(1);
    out.mutable_gap()->set_bytes(bytes);
    out.mutable_gap()->set_reason("dropped");
    out.set_next_offset(next_offset);
    return out;
  }
  std::vector<json> objects() const {
    std::vector<json> out;
    std::istringstream lines(out_);
    for (std::string line; std::getline(lines, line);) out.push_back(json::parse(line));
    return out;
  }
};

TEST_F(JobLogs, AsJsonKeepEveryByteAndSayWhereToGoOn) {
  server_.logs.scripts = {{{chunk(1, 0, "plain\n"), chunk(1, 6, "\xff\x01\n"), gap(100, 109), chunk(1, 109, "cut")}}};
  ASSERT_EQ(run({"job", "logs", "j1", "-o", "json"}), 0) << err_;
  const std::vector<json> found = objects();
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(found[0]["line"], "plain");
  EXPECT_EQ(found[0]["next_offset"], 6);
  EXPECT_FALSE(found[0].contains("line_base64"));
  EXPECT_EQ(found[1]["line_base64"], "/wE=");
  EXPECT_EQ(found[1]["next_offset"], 9);
  EXPECT_EQ(found[2]["gap"]["bytes"], 100);
  EXPECT_EQ(found[2]["gap"]["reason"], "dropped");
  EXPECT_EQ(found[2]["next_offset"], 109);
  EXPECT_EQ(found[3]["partial"], true);
  EXPECT_EQ(found[3]["next_offset"], 112);
}

TEST_F(JobLogs, SayHowMuchIsMissingAndWhere) {
  server_.logs.scripts = {{{chunk(1, 0, "before\n"), gap(100, 107), chunk(1, 107, "after\n")}}};
  ASSERT_EQ(run({"job", "logs", "j1"}), 0);
  EXPECT_EQ(out_, "before\nafter\n");
  EXPECT_THAT(err_, HasSubstr("100 bytes of output are missing here (dropped)"));
}

TEST_F(JobLogs, ThatSomebodyDeletesAreNotWaitedFor) {
  v1::LogChunk cleared = gap(0, 0);
  cleared.mutable_gap()->set_reason("cleared");
  server_.logs.scripts = {{{chunk(1, 0, "a\n"), cleared}}, {{chunk(1, 2, "never asked for\n")}}};
  v1::Job job = job_in(v1::Job::Succeeded);
  v1::Execution* execution = job.add_executions();
  execution->set_number(1);
  execution->set_log_bytes(100);
  server_.jobs.jobs = {job};
  ASSERT_EQ(run({"job", "logs", "-f", "j1"}), 0) << err_;
  EXPECT_EQ(out_, "a\n");
  EXPECT_THAT(server_.logs.requests, SizeIs(1));
}

TEST_F(JobLogs, LetTheServerFindATailAndATime) {
  ASSERT_EQ(run({"job", "logs", "j1", "--tail", "5", "--since", "10m"}), 0);
  ASSERT_THAT(server_.logs.requests, SizeIs(1));
  EXPECT_EQ(server_.logs.requests[0].tail(), 5);
  EXPECT_EQ(server_.logs.requests[0].since().seconds(), clock_.us / 1'000'000 - 600);
}

TEST_F(JobLogs, AfterABreakGoOnWhereTheyWereNotAtTheTailAgain) {
  server_.logs.scripts = {{{chunk(1, 50, "one\n")}, {grpc::UNAVAILABLE, "restarting"}}, {{chunk(1, 54, "two\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  ASSERT_EQ(run({"job", "logs", "j1", "-f", "--tail", "1"}), 0) << err_;
  EXPECT_EQ(out_, "one\ntwo\n");
  ASSERT_GE(server_.logs.requests.size(), 2u);
  EXPECT_EQ(server_.logs.requests[1].from_offset(), 54);
  EXPECT_EQ(server_.logs.requests[1].tail(), 0);
}

TEST_F(JobLogs, CountATailOfChosenLinesAndThenFollow) {
  v1::LogChunk rest = chunk(1, 12, "ok 3\n");
  rest.set_end_of_execution(true);
  server_.logs.scripts = {{{chunk(1, 0, "ok 1\n"), chunk(1, 5, "no\n"), chunk(1, 8, "ok2\n")}}, {{rest}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  ASSERT_EQ(run({"job", "logs", "j1", "-f", "--grep", "^ok", "--tail", "1"}), 0) << err_;
  EXPECT_EQ(out_, "ok2\nok 3\n");
  EXPECT_EQ(server_.logs.requests[0].tail(), 0) << "only we know which lines count";
  EXPECT_TRUE(server_.logs.requests[0].no_follow());
  EXPECT_EQ(server_.logs.requests[1].from_offset(), 12);
}

TEST_F(JobLogs, BeginAtAnOffset) {
  server_.logs.scripts = {{{chunk(2, 7, "rest\n")}}};
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  server_.jobs.jobs[0].set_executions_total(2);
  ASSERT_EQ(run({"job", "logs", "j1", "--attempt", "2", "--offset", "7"}), 0) << err_;
  EXPECT_EQ(out_, "rest\n");
  EXPECT_EQ(server_.logs.requests[0].execution(), 2);
  EXPECT_EQ(server_.logs.requests[0].from_offset(), 7);
}

TEST_F(JobLogs, RefuseWhatMakesNoSenseAndNameTheFlag) {
  EXPECT_EQ(run({"job", "logs", "j1", "--grep", "a("}), 2);
  EXPECT_THAT(err_, HasSubstr("--grep"));
  EXPECT_EQ(run({"job", "logs", "j1", "--offset", "7"}), 2);
  EXPECT_THAT(err_, HasSubstr("--attempt"));
  EXPECT_THAT(server_.logs.requests, SizeIs(0));
}

TEST_F(JobLogs, RulesForOutputGoIntoTheJob) {
  ASSERT_EQ(run({"job", "submit", "--log-policy", "drop", "--log-limit", "100M", "--log-rate", "1M", "--", "true"}), 0)
      << err_;
  const v1::LogOptions& logs = server_.jobs.queued.at(0).spec().logs();
  EXPECT_EQ(logs.policy(), v1::LogOptions::drop);
  EXPECT_EQ(logs.max_bytes(), 100 << 20);
  EXPECT_EQ(logs.max_bytes_per_second(), 1 << 20);
  EXPECT_EQ(run({"job", "submit", "--log-policy", "dorp", "--", "true"}), 2);
  EXPECT_THAT(err_, HasSubstr("drop"));
  EXPECT_EQ(run({"job", "submit", "--log-limit", "0", "--", "true"}), 2);
  EXPECT_THAT(err_, HasSubstr("--log-limit"));
}

}  // namespace
}  // namespace hodei::cli::job_logs_test
