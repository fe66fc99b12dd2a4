// The other commands end to end.
#include "src/base/text.h"
#include "src/cli/cli_fixture.h"

namespace hodei::cli::cli_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_F(CliTest, FlagsWinOverTheJobFile) {
  const std::string file =
      temp_file("job.yaml", "name: from-file\ntimeout_ms: 5\ncommand: {shell: {cmd: echo, args: [a]}}\n");
  env_["PASSED"] = "on";
  EXPECT_EQ(run({"job",
                 "submit",
                 "-f",
                 file,
                 "--name",
                 "from-flag",
                 "--env",
                 "A=b=c",
                 "--env",
                 "PASSED",
                 "--env",
                 "UNSET",
                 "--label",
                 "k=v",
                 "--priority",
                 "high",
                 "--constraint",
                 "zone In (a,b)",
                 "--memory",
                 "2g",
                 "--cpu",
                 "1.5",
                 "--pids",
                 "70",
                 "--io-weight",
                 "10",
                 "--storage",
                 "1G",
                 "--sandbox-user",
                 "daemon",
                 "--sandbox-allow",
                 "network,tmp",
                 "--pool",
                 "p",
                 "--provider",
                 "docker",
                 "--concurrency-key",
                 "c",
                 "--concurrency-limit",
                 "2",
                 "--namespace",
                 "team",
                 "--correlation-id",
                 "corr"}),
            0)
      << err_;
  const v1::QueueJobRequest& request = server_.jobs.queued[0];
  const v1::JobSpec& spec = request.spec();
  EXPECT_EQ(spec.name(), "from-flag");
  EXPECT_EQ(spec.timeout_ms(), 5);
  EXPECT_EQ(spec.env().at("A"), "b=c");
  EXPECT_EQ(spec.env().at("PASSED"), "on");
  EXPECT_EQ(spec.env().count("UNSET"), 0u);
  EXPECT_EQ(spec.preferences().priority(), v1::Preferences::high);
  EXPECT_EQ(spec.constraints().labels(0).values_size(), 2);
  EXPECT_EQ(spec.constraints().pool(), "p");
  EXPECT_EQ(spec.constraints().provider(), "docker");
  EXPECT_EQ(spec.resources().memory_mb(), 2048);
  EXPECT_EQ(spec.resources().cpu_cores(), 1.5);
  EXPECT_EQ(spec.resources().pids(), 70);
  EXPECT_EQ(spec.resources().io_weight(), 10);
  EXPECT_EQ(spec.resources().storage_mb(), 1024);
  EXPECT_EQ(spec.sandbox().user(), "daemon");
  EXPECT_TRUE(spec.sandbox().allow_network());
  EXPECT_TRUE(spec.sandbox().shared_tmp());
  EXPECT_FALSE(spec.sandbox().writable_root());
  EXPECT_EQ(spec.concurrency().limit(), 2);
  EXPECT_EQ(request.namespace_(), "team");
  EXPECT_EQ(request.correlation_id(), "corr");
}

TEST_F(CliTest, LimitsThatMakeNoSenseNameTheirFlag) {
  EXPECT_NE(run({"run", "--pids", "-1", "--", "true"}), 0);
  EXPECT_THAT(err_, HasSubstr("--pids (resources.pids)"));
  EXPECT_NE(run({"run", "--io-weight", "0", "--", "true"}), 0);
  EXPECT_THAT(err_, HasSubstr("--io-weight (resources.io_weight)"));
  EXPECT_NE(run({"run", "--sandbox-allow", "netwrok", "--", "true"}), 0);
  EXPECT_THAT(err_, HasSubstr("network"));
  EXPECT_THAT(server_.jobs.queued, IsEmpty());
}

TEST_F(CliTest, AScriptComesFromAFileOrStdinAndTakesArguments) {
  stdin_ = "echo $1\n";
  EXPECT_EQ(run({"job", "submit", "--script", "-", "--interpreter", "sh", "--", "hello"}), 0) << err_;
  const v1::ScriptCommand& script = server_.jobs.queued[0].spec().command().script();
  EXPECT_EQ(script.content(), "echo $1\n");
  EXPECT_EQ(script.interpreter(), "sh");
  EXPECT_THAT(script.args(), ElementsAre("hello"));
}

TEST_F(CliTest, ATemplateRunCarriesItsParameters) {
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  EXPECT_EQ(run({"template", "run", "greet", "--param", "who=you"}), 0) << err_;
  EXPECT_EQ(server_.jobs.queued[0].template_(), "greet");
  EXPECT_EQ(server_.jobs.queued[0].parameters().at("who"), "you");
}

TEST_F(CliTest, BadInputIsRefusedBeforeAnythingIsSent) {
  const std::string file = temp_file("bad.yaml", "name: x\ntimout_ms: 5\n");
  EXPECT_EQ(run({"run", "-f", file}), 2);
  EXPECT_THAT(err_, HasSubstr("hodei: error: " + file + ":2: unknown field 'timout_ms'; did you mean 'timeout_ms'?"));
  EXPECT_EQ(run({"run", "--timeout", "-5s", "--", "true"}), 2);
  EXPECT_THAT(err_, HasSubstr("--timeout (timeout_ms): '-5s' is negative"));
  EXPECT_EQ(run({"run"}), 2);
  EXPECT_THAT(err_, HasSubstr("nothing to run"));
  EXPECT_EQ(run({"job", "submit", "--attempts", "0", "--", "true"}), 2);
  EXPECT_EQ(run({"job", "get", "../etc/passwd"}), 1);
  EXPECT_THAT(err_, HasSubstr("no job has the id or the name '../etc/passwd'"));
  EXPECT_THAT(server_.jobs.queued, IsEmpty());
}

TEST_F(CliTest, ARefusalOfTheServerIsPrintedAsItIs) {
  server_.jobs.queue_errors = {{grpc::INVALID_ARGUMENT, "timeout_ms: must not be negative"}};
  EXPECT_EQ(run({"job", "submit", "--", "true"}), 1);
  EXPECT_EQ(err_, "hodei: error: timeout_ms: must not be negative\n");
  EXPECT_EQ(out_, "");
}

TEST_F(CliTest, ErrorsOfTheServerNameTheFlagThatWasGiven) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> given = {
      {{"--cpu", "2"}, "resources.cpu_milli: must be less"},
      {{"--memory", "5Gi"}, "resources.memory_mb: must be less"},
      {{"--env", "HODEI_X=1"}, "env.HODEI_X: names starting with HODEI_ are reserved"},
      {{"--label", "a=b"}, "labels: must have fewer"},
      {{"--idempotency-key", "k"}, "idempotency_key: this key belongs to job j3"},
      {{"--prefer", "a=b"}, "preferences.labels[0].rule.key: must not be empty"}};
  for (const auto& [flags, error] : given) {
    server_.jobs.queue_errors = {{grpc::INVALID_ARGUMENT, error}, {grpc::INVALID_ARGUMENT, error}};
    std::vector<std::string> words = {"job", "submit"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "true"});
    EXPECT_EQ(run(words), 1);
    const size_t end = error.find(": ");
    EXPECT_EQ(err_, cat("hodei: error: ", flags[0], " (", error.substr(0, end), ")", error.substr(end), "\n"));
    EXPECT_EQ(run({"job", "submit", "--", "true"}), 1);
    EXPECT_EQ(err_, cat("hodei: error: ", error, "\n")) << "the flag was not given";
  }
}

TEST_F(CliTest, AnUnreachableServerIsNamedWithTheFix) {
  server_.stop();
  EXPECT_EQ(run({"run", "--", "true"}), 125);
  EXPECT_THAT(err_, HasSubstr("no server answers at " + server_.address() + " (Connection refused)"));
  EXPECT_THAT(err_, HasSubstr("start one with `hodei dev`, or set --server or HODEI_SERVER"));
  EXPECT_EQ(run({"status"}), 1);
  EXPECT_EQ(out_, "");
}

TEST_F(CliTest, SeveralServersAreTriedInOrder) {
  FakeServer gone;
  gone.stop();
  EXPECT_EQ(run({"--server", gone.address() + "," + server_.address(), "status"}), 0) << err_;
}

TEST_F(CliTest, StatusGivesThePids) {
  EXPECT_EQ(run({"status", "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr("\"server_pid\": 4711"));
  EXPECT_EQ(run({"status"}), 0);
  EXPECT_THAT(out_, HasSubstr("Ready"));
}

TEST_F(CliTest, JobGetShowsTheNewestExecutionsAndSaysHowManyThereAre) {
  v1::Job newest = job_in(v1::Job::Failed);
  newest.set_executions_total(3);
  newest.set_older_executions_token("2");
  newest.add_executions()->set_id("j1.3");
  newest.add_executions()->set_id("j1.2");
  v1::Job older = newest;
  older.clear_executions();
  older.clear_older_executions_token();
  older.add_executions()->set_id("j1.1");
  server_.jobs.jobs = {newest, older};
  EXPECT_EQ(run({"job", "get", "j1"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("these are the newest 2 of 3 executions; see the others with --all-executions"));
  EXPECT_EQ(server_.jobs.asked[0].execution_page_size(), 20);

  server_.jobs.jobs = {newest, older};
  EXPECT_EQ(run({"job", "get", "j1", "--all-executions"}), 0) << err_;
  EXPECT_EQ(server_.jobs.asked[2].execution_page_token(), "2");
  EXPECT_THAT(out_, HasSubstr("j1.1"));
  EXPECT_THAT(out_, HasSubstr("j1.3"));
  EXPECT_THAT(err_, Not(HasSubstr("newest 2")));
}

TEST_F(CliTest, JobDeleteNamesTheJobs) {
  EXPECT_EQ(run({"job", "delete", "j1", "j2", "--reason", "tidy"}), 0) << err_;
  ASSERT_EQ(server_.jobs.deleted.size(), 1u);
  EXPECT_THAT(server_.jobs.deleted[0].job_ids(), ElementsAre("j1", "j2"));
  EXPECT_EQ(server_.jobs.deleted[0].reason(), "tidy");
  EXPECT_EQ(out_, "2 jobs deleted\n");
  EXPECT_EQ(run({"job", "delete", "not an id"}), 1);
  EXPECT_EQ(server_.jobs.deleted.size(), 1u) << "nothing is sent when one is wrong";
}

TEST_F(CliTest, JobListShowsWhatWasAskedForInEveryForm) {
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  EXPECT_EQ(run({"job", "list", "--state", "succeeded,failed", "--label", "a=b", "--limit", "7"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("j1"));
  EXPECT_THAT(out_, Not(HasSubstr("\x1b")));
  EXPECT_THAT(server_.jobs.listed[0].states(), ElementsAre(v1::Job::Succeeded, v1::Job::Failed));
  EXPECT_EQ(server_.jobs.listed[0].page_size(), 7);
  EXPECT_EQ(run({"job", "list", "-o", "name"}), 0);
  EXPECT_EQ(out_, "j1\n");
  EXPECT_EQ(run({"job", "list", "-o", "yaml"}), 0);
  EXPECT_THAT(out_, HasSubstr("state: Succeeded"));
  EXPECT_EQ(run({"job", "list", "--state", "Runing"}), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean 'Running'?"));
}

TEST_F(CliTest, ColoursAreForTerminalsWithoutNoColor) {
  server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
  io_.out_is_terminal = true;
  run({"job", "list"});
  EXPECT_THAT(out_, HasSubstr("\x1b[32mSucceeded"));
  env_["NO_COLOR"] = "1";
  run({"job", "list"});
  EXPECT_THAT(out_, Not(HasSubstr("\x1b[32m")));
}

TEST_F(CliTest, WatchShowsItAgainAndAgain) {
  int pauses = 0;
  on_pause_ = [&] { return ++pauses < 3; };
  EXPECT_EQ(run({"worker", "list", "--watch", "-o", "name"}), 0);
  EXPECT_EQ(pauses, 3);
}

TEST_F(CliTest, AWorkerIsFoundByTheBeginningOfItsId) {
  server_.workers.ids = {"alpha-1", "alpha-2", "beta-1"};
  EXPECT_EQ(run({"worker", "drain", "be"}), 0) << err_;
  EXPECT_THAT(server_.workers.drained, ElementsAre("beta-1"));
  EXPECT_EQ(run({"worker", "drain", "alpha"}), 1);
  EXPECT_THAT(err_, HasSubstr("could be any of alpha-1, alpha-2"));
}

TEST_F(CliTest, ExplainSpeaksInWords) {
  server_.jobs.jobs = {job_in(v1::Job::Pending)};
  v1::SchedulingDecision& decision = server_.scheduler.decision;
  decision.set_waiting_for("no worker has provider docker");
  decision.set_considered(1);
  (*decision.mutable_rejected())["provider"] = 1;
  v1::Candidate& candidate = *decision.add_candidates();
  candidate.set_worker_id("w1");
  candidate.set_rule("provider");
  EXPECT_EQ(run({"job", "explain", "j1"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("It is waiting: no worker has provider docker."));
  EXPECT_THAT(out_, HasSubstr("1 worker rejected by the rule `provider`"));
}

TEST_F(CliTest, MistypedCommandsAndFlagsAreGuessed) {
  EXPECT_EQ(run({"jbo", "list"}), 2);
  EXPECT_THAT(err_, HasSubstr("has no command 'jbo'; did you mean 'job'?"));
  EXPECT_EQ(run({"job", "lst"}), 2);
  EXPECT_THAT(err_, HasSubstr("`hodei job` has no command 'lst'; did you mean 'list'?"));
  EXPECT_EQ(run({"run", "--tiemout", "3s", "--", "true"}), 2);
  EXPECT_THAT(err_, HasSubstr("unknown flag '--tiemout' for `hodei run`; did you mean '--timeout'?"));
  EXPECT_EQ(run({"run", "echo", "hi"}), 2);
  EXPECT_THAT(err_, HasSubstr("hodei run -- echo"));
  EXPECT_EQ(run({"job"}), 2);
  EXPECT_THAT(err_, HasSubstr("`hodei job` needs a command: submit, list"));
  EXPECT_EQ(run({"status", "--", "x"}), 2);
}

TEST_F(CliTest, BareItShowsItsHelp) {
  EXPECT_EQ(run({}), 0);
  EXPECT_THAT(out_, HasSubstr("Usage: hodei"));
  EXPECT_THAT(out_, Not(HasSubstr("__complete")));
  EXPECT_EQ(err_, "");
}

TEST_F(CliTest, HelpShowsWhereTheCommandStands) {
  EXPECT_EQ(run({"run", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Usage: hodei run [OPTIONS] -- COMMAND [ARGS...]\n"));
  EXPECT_EQ(run({"job", "submit", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Usage: hodei job submit [OPTIONS] -- COMMAND [ARGS...]\n"));
}

TEST_F(CliTest, HelpAndVersionGoToStdout) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("template"));
  EXPECT_EQ(run({"help", "job", "list"}), 0);
  EXPECT_THAT(out_, HasSubstr("Usage: hodei job list"));
  EXPECT_EQ(run({"job", "list", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("--state"));
  EXPECT_EQ(run({"version"}), 0);
  EXPECT_EQ(out_, "hodei 1.2.3\n");
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(out_, "hodei 1.2.3\n");
}

TEST_F(CliTest, ConfigShowSaysWhereEachValueComesFrom) {
  const std::string file = temp_file("config.yaml", "output: json\nslots: 3\n");
  env_["HODEI_CONFIG"] = file;
  EXPECT_EQ(run({"config", "show"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("\"from\": \"" + file + ":2\""));
  EXPECT_EQ(run({"config", "show", "-o", "table"}), 0);
  EXPECT_THAT(out_, HasSubstr("environment HODEI_SERVER"));
  EXPECT_EQ(run({"config", "check", "-o", "table"}), 0);
  EXPECT_THAT(out_, HasSubstr("good, 2 settings"));
  const std::string bad = temp_file("bad_config.yaml", "outptu: json\n");
  EXPECT_EQ(run({"config", "check", bad}), 1);
  EXPECT_THAT(err_, HasSubstr(bad + ":1: unknown setting 'outptu'; did you mean 'output'?"));
  EXPECT_EQ(run({"--config", "/nowhere.yaml", "status"}), 1);
  EXPECT_THAT(err_, HasSubstr("/nowhere.yaml: cannot be opened"));
}

TEST_F(CliTest, LocalCommandsGetTheirOptions) {
  AgentOptions got;
  local_.agent = [&](const AgentOptions& options) { return got = options, 42; };
  EXPECT_EQ(run({"agent", "--slots", "4", "--label", "a=1", "--label", "b=2", "--token", "t", "--server", "h:1",
                 "--worker-id", "w", "--data-dir", "/d"}),
            42)
      << err_;
  EXPECT_EQ(got.slots, 4);
  EXPECT_THAT(got.labels, SizeIs(2));
  EXPECT_THAT(got.servers, ElementsAre(Address{"h", 1}));
  EXPECT_EQ(got.token, "t");
  EXPECT_EQ(got.worker_id, "w");
  EXPECT_EQ(got.state_dir, "/d/worker");
  EXPECT_EQ(run({"dev"}), 1);
  EXPECT_THAT(err_, HasSubstr("built without `dev`"));
}

TEST_F(CliTest, TheWorkersOwnCommandLineTakesTheSettingsOfAgent) {
  AgentOptions got;
  local_.agent = [&](const AgentOptions& options) { return got = options, 42; };
  env_["HODEI_LABELS"] = "zone=a";
  EXPECT_EQ(run_worker({"--slots", "4", "--token", "t", "-s", "h:1", "--data-dir", "/d"}), 42) << err_;
  EXPECT_EQ(got.slots, 4);
  EXPECT_EQ(got.token, "t");
  EXPECT_THAT(got.servers, ElementsAre(Address{"h", 1}));
  EXPECT_THAT(got.labels, SizeIs(1));
  EXPECT_EQ(got.state_dir, "/d/worker");
  EXPECT_EQ(run_worker({"--version"}), 0);
  EXPECT_EQ(out_, "hodei-worker 1.2.3\n");
  EXPECT_EQ(run_worker({"--help"}), 0);
  for (const char* flag : {"--server", "--token", "--slots", "--label", "--state-dir", "progress", "output"}) {
    EXPECT_THAT(out_, HasSubstr(flag));
  }
  EXPECT_THAT(out_, Not(HasSubstr("--namespace")));
}

TEST_F(CliTest, TheWorkersOwnCommandLineSaysWhatIsWrong) {
  EXPECT_EQ(run_worker({"--slotz", "4"}), 2);
  EXPECT_THAT(err_, HasSubstr("unknown flag '--slotz' for `hodei-worker`; did you mean '--slots'?"));
  EXPECT_EQ(run_worker({"--slots", "many"}), 2);
  EXPECT_THAT(err_, HasSubstr("slots (flag --slots): 'many'"));
  EXPECT_EQ(run_worker({"start"}), 2);
  EXPECT_THAT(err_, HasSubstr("has no command 'start'"));
}

TEST_F(CliTest, ReportsOfAJobAreHandedOnWordByWord) {
  std::vector<std::string> got;
  local_.report = [&](const std::vector<std::string>& words) { return got = words, 0; };
  EXPECT_EQ(run({"progress", "40", "half way"}), 0) << err_;
  EXPECT_THAT(got, ElementsAre("progress", "40", "half way"));
  EXPECT_EQ(run_worker({"output", "a=1", "b=2 3"}), 0) << err_;
  EXPECT_THAT(got, ElementsAre("output", "a=1", "b=2 3"));
  EXPECT_EQ(run_worker({"progress", "--", "5", "-x"}), 0) << err_;
  EXPECT_THAT(got, ElementsAre("progress", "5", "-x"));
  env_["HODEI_CONFIG"] = "/nowhere.yaml";
  EXPECT_EQ(run({"progress", "41"}), 0) << "needs no settings: " << err_;
}

TEST_F(CliTest, CompletionKnowsEveryCommandAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(run({"completion", shell}), 0);
    for (const char* word :
         {"run",    "submit", "list",   "logs",       "cancel",          "retry",      "explain",  "watch",
          "worker", "drain",  "taint",  "unregister", "template",        "artifact",   "put",      "queue",
          "status", "otp",    "create", "scheduler",  "version",         "completion", "config",   "check",
          "show",   "dev",    "server", "agent",      "idempotency-key", "output",     "progress", "input-archive"}) {
      EXPECT_THAT(out_, HasSubstr(word)) << shell;
    }
  }
}

}  // namespace
}  // namespace hodei::cli::cli_test
