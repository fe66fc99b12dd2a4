// What jobs, workers and providers say reaches nobody's terminal raw: only a job's own output does.
#include "src/cli/cli_fixture.h"

namespace hodei::cli::escapes_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// ESC, C1 as UTF-8 (CSI and OSC), DEL, a carriage return, and a mark that turns the order of text.
const std::string kNasty =
    "a\x1b[2Jb\u009b31mc\u009d0;title\u009cd\x7f"
    "e\rf\u202eg";

class EscapesTest : public CliTest {
 protected:
  static std::string raw_in(const std::string& text) {
    for (const std::string bad : {"\x1b", "\u009b", "\u009d", "\x7f", "\r", "\u202e"}) {
      if (text.find(bad) != std::string::npos) return bad;
    }
    return "";
  }
  void expect_clean(const std::string& what) {
    EXPECT_EQ(raw_in(out_), "") << what << " on stdout: " << out_;
    EXPECT_EQ(raw_in(err_), "") << what << " on stderr: " << err_;
  }
  static v1::Job nasty_job() {
    v1::Job job = job_in(v1::Job::Failed, 1);
    job.set_name(kNasty);
    job.set_reason(kNasty);
    job.set_worker_id(kNasty);
    job.set_namespace_("default");
    (*job.mutable_outputs())["k"] = kNasty;
    job.mutable_progress()->set_message(kNasty);
    (*job.mutable_spec()->mutable_labels())[kNasty] = kNasty;
    job.mutable_spec()->mutable_command()->mutable_shell()->set_cmd(kNasty);
    v1::Transition& step = *job.add_history();
    step.set_reason(kNasty);
    return job;
  }
};

TEST_F(EscapesTest, OfJobs) {
  server_.jobs.jobs.push_back(nasty_job());
  for (const std::string form : {"table", "wide", "json", "yaml", "name"}) {
    EXPECT_EQ(run({"job", "get", "j1", "-o", form}), 0) << err_;
    expect_clean("job get -o " + form);
    EXPECT_EQ(run({"job", "list", "-o", form}), 0) << err_;
    expect_clean("job list -o " + form);
  }
  EXPECT_EQ(run({"job", "get", "j1"}), 0);
  EXPECT_THAT(out_, HasSubstr("a\\x1b[2Jb\\u009b31mc")) << "what is there can be seen";
  EXPECT_EQ(run({"job", "get", "j1", "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr("a\\u001b[2Jb\\u009b31mc")) << "as JSON writes it";
}

TEST_F(EscapesTest, OfAScriptWithSeveralLinesInYaml) {
  v1::Job job = job_in(v1::Job::Succeeded);
  job.mutable_spec()->mutable_command()->mutable_shell()->set_cmd("one\n" + kNasty + "\n");
  server_.jobs.jobs.push_back(job);
  EXPECT_EQ(run({"job", "get", "j1", "-o", "yaml"}), 0);
  expect_clean("job get -o yaml");
}

TEST_F(EscapesTest, OfEvents) {
  v1::ExecutionEvent progress;
  progress.set_short_id("j1");
  progress.mutable_progress()->set_message(kNasty);
  v1::ExecutionEvent step;
  step.set_short_id("j1");
  step.mutable_transition()->set_reason(kNasty);
  step.set_final(true);
  for (const std::string form : {"table", "json"}) {
    server_.jobs.events.push_back({{progress, step}});
    EXPECT_EQ(run({"job", "watch", "j1", "-o", form}), 0) << err_;
    expect_clean("job watch -o " + form);
  }
}

TEST_F(EscapesTest, OfWorkersAndTheirLogs) {
  server_.workers.ids = {"w1" + kNasty};
  for (const std::string form : {"table", "json", "yaml", "name"}) {
    EXPECT_EQ(run({"worker", "list", "-o", form}), 0) << err_;
    expect_clean("worker list -o " + form);
  }
  server_.workers.ids = {"w1"};
  server_.providers.printed = kNasty + "\nsecond line\x1b[31m\n";
  EXPECT_EQ(run({"worker", "logs", "w1"}), 0) << err_;
  expect_clean("worker logs");
  EXPECT_THAT(out_, HasSubstr("\nsecond line\\x1b[31m\n"));
}

TEST_F(EscapesTest, OfErrors) {
  server_.jobs.queue_errors.push_back({grpc::INVALID_ARGUMENT, "name: '" + kNasty + "' is taken\nsecond line"});
  EXPECT_NE(run({"job", "submit", "--", "true"}), 0);
  expect_clean("an error of the server");
  EXPECT_THAT(err_, HasSubstr("\n  second line"));
  EXPECT_NE(run({"job", kNasty}), 0);
  expect_clean("an error of the command line");
}

TEST_F(EscapesTest, ExceptInTheJobsOwnOutput) {
  server_.jobs.jobs.push_back(job_in(v1::Job::Succeeded));
  server_.logs.scripts.push_back({{chunk(1, 0, "\x1b[31mred\x1b[0m")}});
  EXPECT_EQ(run({"job", "logs", "j1"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("\x1b[31mred\x1b[0m"));
}

}  // namespace
}  // namespace hodei::cli::escapes_test
