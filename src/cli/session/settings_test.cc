#include <set>

#include "src/cli/session/settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/terminal/surroundings.h"

namespace hodei::cli::settings_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    surroundings_.env = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = env_.find(name);
      return found == env_.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
  }

  absl::StatusOr<Settings> resolve(const std::string& file = "") {
    ConfigFile config{"c.yaml", {}};
    auto values = parse_config(file, "c.yaml");
    if (!values.ok()) return values.status();
    config.values = *values;
    return Settings::resolve(flags_, surroundings_, config);
  }

  std::string error(const std::string& file = "") { return std::string(resolve(file).status().message()); }

  Surroundings surroundings_;
  std::map<std::string, std::string> env_;
  std::map<std::string, std::vector<std::string>> flags_;
};

TEST_F(SettingsTest, AFlagWinsOverTheEnvironmentThatWinsOverTheFileThatWinsOverTheDefault) {
  EXPECT_EQ(resolve()->get("slots").origin, "default");
  EXPECT_EQ(resolve("slots: 1\n")->text("slots"), "1");
  EXPECT_EQ(resolve("slots: 1\n")->get("slots").origin, "c.yaml:1");
  env_["HODEI_SLOTS"] = "2";
  EXPECT_EQ(resolve("slots: 1\n")->text("slots"), "2");
  EXPECT_EQ(resolve("slots: 1\n")->get("slots").origin, "environment HODEI_SLOTS");
  flags_["slots"] = {"3"};
  EXPECT_EQ(resolve("slots: 1\n")->count("slots"), 3);
  EXPECT_EQ(resolve("slots: 1\n")->get("slots").origin, "flag --slots");
}

TEST_F(SettingsTest, AnEmptyVariableIsNotSet) {
  env_["HODEI_SLOTS"] = "";
  EXPECT_EQ(resolve("slots: 1\n")->text("slots"), "1");
}

TEST_F(SettingsTest, GrpcPortMovesTheDefaultServerAndTheListener) {
  env_["GRPC_PORT"] = "7000";
  EXPECT_EQ(resolve()->text("server"), "http://localhost:7000");
  EXPECT_EQ(resolve()->text("listen"), "127.0.0.1:7000");
  EXPECT_EQ(resolve("listen: 0.0.0.0:1\nserver: h:1\n")->text("listen"), "0.0.0.0:7000");
  EXPECT_EQ(resolve("listen: 0.0.0.0:1\nserver: h:1\n")->text("server"), "h:1");
  flags_["listen"] = {"127.0.0.1:9"};
  EXPECT_EQ(resolve()->text("listen"), "127.0.0.1:9");
  env_["GRPC_PORT"] = "port";
  flags_.clear();
  EXPECT_THAT(error(), HasSubstr("GRPC_PORT"));
}

TEST_F(SettingsTest, HttpPortMovesTheHttpListener) {
  EXPECT_EQ(resolve()->text("http_listen"), "127.0.0.1:8080");
  env_["HTTP_PORT"] = "7000";
  EXPECT_EQ(resolve()->text("http_listen"), "127.0.0.1:7000");
  EXPECT_EQ(resolve("http_listen: 0.0.0.0:1\n")->text("http_listen"), "0.0.0.0:7000");
  flags_["http_listen"] = {"off"};
  EXPECT_EQ(server_options(*resolve(), surroundings_)->http_listen, std::nullopt);
  flags_["http_listen"] = {"localhost"};
  EXPECT_THAT(error(), HasSubstr("has no port"));
}

TEST_F(SettingsTest, ListsComeAsListsMappingsOrText) {
  EXPECT_THAT(resolve("labels: {zone: a, rack: 3}\n")->list("labels"), ElementsAre("zone=a", "rack=3"));
  EXPECT_THAT(resolve("labels: [zone=a]\n")->list("labels"), ElementsAre("zone=a"));
  env_["HODEI_LABELS"] = "x=1,y=2";
  EXPECT_THAT(resolve("labels: [zone=a]\n")->list("labels"), ElementsAre("x=1", "y=2"));
}

TEST_F(SettingsTest, UnknownKeysAndBadValuesAreNamedWithTheirLine) {
  EXPECT_THAT(error("slots: 1\ndata-dri: /x\n"),
              HasSubstr("c.yaml:2: unknown setting 'data-dri'; did you mean 'data_dir'?"));
  EXPECT_THAT(error("slots: many\n"), HasSubstr("c.yaml:1: slots: 'many' is not a whole number"));
  EXPECT_THAT(error("output: josn\n"), HasSubstr("did you mean 'json'?"));
  EXPECT_THAT(error("slots: [1]\n"), HasSubstr("must be text or a number"));
  env_["HODEI_OUTPUT"] = "xml";
  EXPECT_THAT(error(), HasSubstr("output (environment HODEI_OUTPUT): 'xml' is not one of table"));
}

TEST_F(SettingsTest, ALeaseIsFromThreeSecondsToAnHour) {
  EXPECT_EQ(resolve()->duration("lease"), Duration(30s));
  EXPECT_EQ(resolve("lease: 3s\n")->duration("lease"), Duration(3s));
  EXPECT_THAT(error("lease: 2s\n"), HasSubstr("lease: '2s' is not from 3s to 1h"));
  EXPECT_THAT(error("lease: 2h\n"), HasSubstr("lease: '2h' is not from 3s to 1h"));
}

TEST_F(SettingsTest, PostgresIsRefusedUntilItIsThere) {
  env_["HODEI_DATABASE_URL"] = "postgres://h/db";
  EXPECT_THAT(error(), HasSubstr("PostgreSQL is not supported yet"));
  env_["HODEI_DATABASE_URL"] = "sqlite:/x";
  env_["DATABASE_URL"] = "postgres://h/db";
  EXPECT_TRUE(resolve().ok());
}

TEST_F(SettingsTest, MakeTheOptionsOfServerAndAgent) {
  env_ = {{"HODEI_DATA_DIR", "/d"}, {"GRPC_PORT", "7001"}, {"HODEI_TOKEN", "t"}};
  flags_ = {{"labels", {"zone=a"}}, {"taints", {"gpu:NoExecute"}}, {"slots", {"4"}}};
  const Settings settings =
      resolve("log_retention_age: 2d\npool: p\nlease: 1m\njob_processes: 100\ncgroups: v1\n").value();
  const DevOptions dev = dev_options(settings, surroundings_).value();
  EXPECT_EQ(dev.server.data_dir, "/d");
  EXPECT_EQ(dev.server.listen, (Address{"127.0.0.1", 7001}));
  EXPECT_EQ(dev.server.log_retention_age, Duration(48h));
  EXPECT_EQ(dev.server.log_retention_bytes, int64_t{10} << 30);
  EXPECT_THAT(dev.agent.servers, ElementsAre(Address{"127.0.0.1", 7001}));
  EXPECT_EQ(dev.server.lease, Duration(1min));
  EXPECT_EQ(dev.agent.slots, 4);
  EXPECT_EQ(dev.agent.job_processes, 100);
  EXPECT_EQ(dev.agent.cgroups, "v1");
  EXPECT_EQ(dev.agent.labels.at("zone"), "a");
  EXPECT_THAT(dev.agent.taints, ElementsAre(WorkerTaint{"gpu", "", "NoExecute"}));
  EXPECT_EQ(dev.agent.state_dir, "/d/worker");
  EXPECT_EQ(dev.agent.pool, "p");
  EXPECT_EQ(dev.agent.token, "t");
}

TEST(SettingsTable, EveryNameFlagAndVariableIsUsedOnce) {
  std::set<std::string_view> seen;
  for (const Setting& setting : all_settings()) {
    for (std::string_view name : {setting.name, setting.flag, setting.env}) {
      EXPECT_TRUE(name.empty() || seen.insert(name).second) << name;
    }
  }
}

}  // namespace
}  // namespace hodei::cli::settings_test
