// `hodei config check`: all that is wrong, at once.
#include "src/cli/cli_fixture.h"

namespace hodei::cli::config_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(CliTest, ConfigCheckReportsEveryProblemAtOnce) {
  const std::string file = temp_file("many.yaml", "outptu: json\nslots: many\nlease: 30s\nretry_for: soon\n");
  env_["HODEI_LEASE"] = "never";
  EXPECT_EQ(run({"config", "check", file}), 1);
  EXPECT_THAT(err_, HasSubstr(file + ":1: unknown setting 'outptu'; did you mean 'output'?"));
  EXPECT_THAT(err_, HasSubstr(file + ":2: slots: 'many'"));
  EXPECT_THAT(err_, HasSubstr(file + ":4: retry_for: 'soon'"));
  EXPECT_THAT(err_, HasSubstr("lease (environment HODEI_LEASE): 'never'"));
  EXPECT_THAT(err_, HasSubstr("4 problems"));
  EXPECT_EQ(out_, "");
  EXPECT_EQ(run({"config", "check", file, "-o", "json"}), 1);
  EXPECT_THAT(out_, HasSubstr("\"problems\": ["));
}

TEST_F(CliTest, ConfigCheckGoesOnBehindASettingThatIsGivenTwice) {
  const std::string file = temp_file("twice.yaml", "slots: 4\nslots: many\nno_such: 1\n");
  EXPECT_EQ(run({"config", "check", file}), 1);
  EXPECT_THAT(err_, HasSubstr(file + ":2: 'slots' is given twice"));
  EXPECT_THAT(err_, HasSubstr(file + ":2: slots: "));
  EXPECT_THAT(err_, HasSubstr(file + ":3: unknown setting 'no_such'"));
  EXPECT_THAT(err_, HasSubstr("3 problems"));
  EXPECT_EQ(run({"--config", file, "job", "list"}), 2) << "nothing else works with such a file";
}

TEST_F(CliTest, ConfigCheckWarnsOfVariablesThatNobodyReads) {
  const std::string file = temp_file("good.yaml", "slots: 3\n");
  io_.env_names = [] {
    return std::vector<std::string>{"HODEI_SERVR", "HODEI_SERVER", "HODEI_CONFIG", "HODEI_JOB_ID", "HOME"};
  };
  EXPECT_EQ(run({"config", "check", file}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("warning: environment HODEI_SERVR: no setting has this name; did you mean "
                              "'HODEI_SERVER'?"));
  EXPECT_THAT(err_, Not(HasSubstr("HODEI_JOB_ID")));
  EXPECT_THAT(err_, Not(HasSubstr("HOME")));
  EXPECT_THAT(out_, HasSubstr("good, 1 setting"));
}

TEST_F(CliTest, RelativeFoldersDoNotDependOnWhereAJobStands) {
  AgentOptions agent;
  local_.agent = [&](const AgentOptions& options) { return agent = options, 0; };
  EXPECT_EQ(run({"agent", "--state-dir", "state", "--token", "t"}), 0) << err_;
  EXPECT_EQ(agent.state_dir[0], '/');
  EXPECT_THAT(agent.state_dir, testing::EndsWith("/state"));
  EXPECT_EQ(run({"agent", "--data-dir", "./data", "--token", "t"}), 0) << err_;
  EXPECT_EQ(agent.state_dir[0], '/');
  EXPECT_THAT(agent.state_dir, testing::EndsWith("/data/worker"));
}

}  // namespace
}  // namespace hodei::cli::config_test
