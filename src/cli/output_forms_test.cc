// Every command speaks json, yaml and name.
#include <nlohmann/json.hpp>

#include "src/cli/cli_fixture.h"
#include "src/cli/documents/document.h"

namespace hodei::cli::output_forms_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class OutputFormsTest : public CliTest, public testing::WithParamInterface<std::vector<std::string>> {
 protected:
  OutputFormsTest() {
    v1::Job job = job_in(v1::Job::Succeeded);
    job.set_executions_total(1);
    server_.jobs.jobs = {job};
    server_.workers.ids = {"w1"};
    server_.workers.names = {{"w1", "alpha"}};
    server_.scheduler.config.set_strategy(v1::SchedulerConfig::smart);
    v1::Provider provider;
    provider.mutable_config()->set_name("docker");
    server_.providers.providers = {provider};
    server_.providers.health.set_state(v1::ProviderHealth::Healthy);
    v1::Pool pool;
    pool.set_name("p");
    server_.providers.pools = {pool};
    v1::Limit limit;
    limit.set_key("k");
    server_.scheduler.limits = {limit};
    v1::Tenant tenant;
    tenant.set_namespace_("team");
    server_.scheduler.tenants = {tenant};
    server_.logs.scripts = {{{chunk(1, 0, "line\n")}}, {{chunk(1, 0, "line\n")}}, {{chunk(1, 0, "line\n")}}};
  }

  int run_as(const char* form) {
    std::vector<std::string> words = GetParam();
    const auto marker = std::find(words.begin(), words.end(), "--");
    words.insert(marker, {"-o", form});
    return run(words);
  }
};

TEST_P(OutputFormsTest, SpeaksJsonYamlAndName) {
  ASSERT_EQ(run_as("json"), 0) << err_;
  EXPECT_TRUE(nlohmann::json::accept(out_)) << out_;
  ASSERT_EQ(run_as("yaml"), 0) << err_;
  const auto yaml = parse_document(out_, "yaml");
  ASSERT_TRUE(yaml.ok()) << yaml.status() << out_;
  EXPECT_TRUE(yaml->kind == Node::Kind::Map || yaml->kind == Node::Kind::List) << out_;
  EXPECT_FALSE(nlohmann::json::accept(out_)) << "JSON is not what was asked for: " << out_;
  ASSERT_EQ(run_as("name"), 0) << err_;
  EXPECT_THAT(out_, Not(HasSubstr(" "))) << "names, one per line";
  EXPECT_EQ(out_.back(), '\n');
}

using Words = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Commands, OutputFormsTest,
    testing::Values(Words{"run", "--", "true"}, Words{"run", "--detach", "--", "true"},
                    Words{"job", "submit", "--", "true"}, Words{"job", "list"}, Words{"job", "get", "j1"},
                    Words{"job", "cancel", "j1"}, Words{"job", "retry", "j1"}, Words{"job", "delete", "j1"},
                    Words{"job", "explain", "j1"}, Words{"job", "wait", "j1"}, Words{"job", "logs", "j1"},
                    Words{"worker", "list"}, Words{"worker", "get", "w1"}, Words{"worker", "drain", "w1"},
                    Words{"worker", "undrain", "w1"}, Words{"worker", "taint", "w1", "gpu"},
                    Words{"worker", "unregister", "w1"}, Words{"worker", "logs", "w1"}, Words{"template", "list"},
                    Words{"template", "rm", "greet"}, Words{"provider", "list"}, Words{"provider", "get", "docker"},
                    Words{"provider", "health", "docker"}, Words{"provider", "rm", "docker"}, Words{"pool", "list"},
                    Words{"pool", "set", "p"}, Words{"pool", "rm", "p"}, Words{"tenant", "list"},
                    Words{"tenant", "set", "team"}, Words{"limit", "list"}, Words{"limit", "set", "k"},
                    Words{"limit", "rm", "k"}, Words{"scheduler", "get"}, Words{"status"}, Words{"config", "show"},
                    Words{"config", "check"}, Words{"version"}),
    [](const testing::TestParamInfo<Words>& command) {
      std::string name;
      for (const std::string& word : command.param) {
        for (const char c : word) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        name += '_';
      }
      return name;
    });

TEST_F(CliTest, AWorkerNameThatSeveralHaveIsRefusedWithThem) {
  server_.workers.ids = {"w1", "w2", "w3"};
  server_.workers.names = {{"w1", "build"}, {"w2", "build"}, {"w3", "other"}};
  EXPECT_EQ(run({"worker", "drain", "build"}), 1);
  EXPECT_THAT(err_, HasSubstr("worker 'build' could be any of w1, w2"));
  EXPECT_TRUE(server_.workers.drained.empty());
  EXPECT_EQ(run({"worker", "undrain", "other"}), 0) << err_;
  EXPECT_THAT(server_.workers.undrained, testing::ElementsAre("w3"));
  EXPECT_EQ(out_, "w3 takes jobs again\n");
}

TEST_F(CliTest, AWorkerThatHasLeftDoesNotMakeANameAmbiguous) {
  server_.workers.ids = {"w1", "w2"};
  server_.workers.names = {{"w1", "build"}, {"w2", "build"}};
  server_.workers.gone = {"w1"};
  EXPECT_EQ(run({"worker", "drain", "build"}), 0) << err_;
  EXPECT_THAT(server_.workers.drained, testing::ElementsAre("w2"));
}

TEST_F(CliTest, LogsOfAnAttemptThatThereIsNotSaySo) {
  v1::Job job = job_in(v1::Job::Succeeded);
  job.set_executions_total(1);
  server_.jobs.jobs = {job};
  EXPECT_EQ(run({"job", "logs", "j1", "--attempt", "2"}), 1);
  EXPECT_THAT(err_, HasSubstr("job j1 has 1 attempt; there is no attempt 2"));
  EXPECT_EQ(run({"job", "logs", "j1.2"}), 1);
  EXPECT_THAT(err_, HasSubstr("there is no attempt 2"));
  EXPECT_EQ(run({"job", "logs", "j1.1"}), 0) << err_;
  EXPECT_EQ(server_.logs.requests.back().execution(), 1);
}

TEST_F(CliTest, CompletionProposesValues) {
  v1::Job job = job_in(v1::Job::Running);
  job.set_name("nightly build");
  server_.jobs.jobs = {job};
  server_.workers.ids = {"w1", "w2"};
  const auto proposals = [&](const std::string& path, const std::string& flag) {
    EXPECT_EQ(run({"__complete", path, "flag" + flag}), 0) << err_;
    return out_;
  };
  EXPECT_EQ(proposals("job get", ""), "j1\tnightly build Running\n");
  EXPECT_THAT(proposals("job list", "--state"), HasSubstr("Pending\n"));
  EXPECT_EQ(proposals("job list", "-o"), "table\nwide\njson\nyaml\nname\n");
  EXPECT_EQ(proposals("job list", "--worker"), "w1\tReady\nw2\tReady\n");
  EXPECT_EQ(proposals("run", "--template"), "greet\t\n");
  EXPECT_EQ(proposals("run", "-t"), "greet\t\n");
  EXPECT_EQ(proposals("template run", ""), "greet\t\n");
  EXPECT_EQ(proposals("worker drain", ""), "w1\tReady\nw2\tReady\n");
  EXPECT_EQ(proposals("run", "--name"), "");
  EXPECT_EQ(proposals("no such", "--name"), "");
  server_.stop();
  EXPECT_EQ(run({"__complete", "job get", "flag"}), 1);
  EXPECT_EQ(err_, "") << "a shell that completes has no place for errors";
}

TEST_F(CliTest, RunWithDataOnStdoutWritesTheOutputOfTheJobToStderr) {
  server_.logs.scripts = {{{chunk(1, 0, "out\n"), chunk(1, 4, "err\n", true)}}};
  server_.jobs.jobs = {job_in(v1::Job::Failed, 7)};
  EXPECT_EQ(run({"run", "-o", "json", "--", "make"}), 7);
  EXPECT_EQ(err_, "out\nerr\n");
  const nlohmann::json job = nlohmann::json::parse(out_, nullptr, false);
  ASSERT_TRUE(job.is_object()) << out_;
  EXPECT_EQ(job["short_id"], "j1");
  EXPECT_EQ(job["exit_code"], 7);
}

TEST_F(CliTest, ErrorsAreDataWhereDataIsAskedFor) {
  server_.jobs.no_such_id = true;
  const std::vector<std::pair<Words, std::string>> errors = {
      {{"job", "get", "j9", "-o", "json"}, "NOT_FOUND"},
      {{"run", "--timeout", "soon", "--output=json", "--", "true"}, "INVALID_ARGUMENT"},
      {{"job", "list", "--no-such-flag", "--output", "json"}, "INVALID_ARGUMENT"},
      {{"-ojson", "jbo"}, "INVALID_ARGUMENT"}};
  for (const auto& [words, code] : errors) {
    EXPECT_NE(run(words), 0);
    const nlohmann::json error = nlohmann::json::parse(err_, nullptr, false);
    ASSERT_TRUE(error.is_object()) << err_;
    EXPECT_EQ(error["error"]["code"], code) << err_;
    EXPECT_FALSE(error["error"]["message"].get<std::string>().empty());
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << "one line: " << err_;
  }
  EXPECT_NE(run({"job", "get", "j9", "-o", "yaml"}), 0);
  EXPECT_THAT(err_, testing::StartsWith("error:\n  code: NOT_FOUND\n  message: "));
  env_["HODEI_OUTPUT"] = "json";
  EXPECT_NE(run({"job", "get", "j9"}), 0);
  EXPECT_THAT(err_, testing::StartsWith("{\"error\":"));
  EXPECT_NE(run({"job", "get", "j9", "-o", "table"}), 0);
  EXPECT_THAT(err_, testing::StartsWith("hodei: error: "));
}

}  // namespace
}  // namespace hodei::cli::output_forms_test
