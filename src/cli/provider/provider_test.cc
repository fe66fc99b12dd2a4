// `hodei provider`, `hodei pool`, and what is shown of made workers.
#include "src/cli/cli_fixture.h"
#include "src/cli/job/run_notes.h"

namespace hodei::cli::provider_test {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::Provider docker() {
  v1::Provider out;
  out.mutable_config()->set_name("docker");
  out.mutable_config()->set_type("docker");
  (*out.mutable_config()->mutable_options())["registry_token"] = "***";
  out.set_state(v1::Provider::Active);
  out.mutable_health()->set_state(v1::ProviderHealth::Degraded);
  out.mutable_health()->set_reason("slow today");
  out.set_isolation(v1::Constraints::container);
  out.set_max_workers(8);
  out.mutable_config()->set_max_workers(5);
  out.add_workers("docker-1");
  out.set_startup_ms(840);
  out.set_created(12);
  return out;
}

TEST_F(CliTest, AProviderIsAddedWithItsOptions) {
  ASSERT_EQ(run({"provider", "add", "d", "--type", "docker", "--option", "host=unix:///x", "--option", "pull=never",
                 "--label", "zone=a", "--max-workers", "3", "--preference", "-2", "--cost", "0.5", "--server-address",
                 "10.0.0.1:50051"}),
            0)
      << err_;
  const v1::ProviderConfig& config = server_.providers.registered.at(0);
  EXPECT_EQ(config.name(), "d");
  EXPECT_EQ(config.type(), "docker");
  EXPECT_EQ(config.options().at("host"), "unix:///x");
  EXPECT_EQ(config.options().at("pull"), "never");
  EXPECT_EQ(config.labels().at("zone"), "a");
  EXPECT_EQ(config.max_workers(), 3);
  EXPECT_EQ(config.preference(), -2);
  EXPECT_EQ(config.cost(), 0.5);
  EXPECT_EQ(config.server_address(), "10.0.0.1:50051");
  EXPECT_THAT(out_, HasSubstr("provider d added"));
}

TEST_F(CliTest, AChangeSendsOnlyWhatWasGiven) {
  ASSERT_EQ(run({"provider", "set", "d", "--option", "pull=", "--max-workers", "0"}), 0) << err_;
  const v1::UpdateProviderRequest& request = server_.providers.updated.at(0);
  EXPECT_TRUE(request.has_max_workers());
  EXPECT_EQ(request.options().at("pull"), "");
  EXPECT_FALSE(request.has_mode() || request.has_preference() || request.has_cost() || request.has_server_address());
}

TEST_F(CliTest, ModesAreCommandsOfTheirOwn) {
  for (const char* word : {"enable", "disable", "maintenance"}) ASSERT_EQ(run({"provider", word, "d"}), 0) << err_;
  EXPECT_EQ(server_.providers.updated.at(0).mode(), v1::ProviderConfig::enabled);
  EXPECT_EQ(server_.providers.updated.at(1).mode(), v1::ProviderConfig::disabled);
  EXPECT_EQ(server_.providers.updated.at(2).mode(), v1::ProviderConfig::maintenance);
}

TEST_F(CliTest, ProvidersAreListedForPeopleAndPrograms) {
  server_.providers.providers = {docker()};
  ASSERT_EQ(run({"provider", "list"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("1/5"));
  EXPECT_THAT(out_, HasSubstr("840ms"));
  EXPECT_THAT(out_, HasSubstr("slow today"));
  ASSERT_EQ(run({"provider", "ls", "-o", "name"}), 0);
  EXPECT_EQ(out_, "docker\n");
  ASSERT_EQ(run({"provider", "list", "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr("\"startup_ms\": 840"));
  ASSERT_EQ(run({"provider", "get", "docker"}), 0);
  EXPECT_THAT(out_, HasSubstr("registry_token=***"));
  EXPECT_THAT(out_, HasSubstr("container"));
  EXPECT_EQ(run({"provider", "get", "other"}), 1);
  EXPECT_THAT(err_, HasSubstr("hodei provider list"));
}

TEST_F(CliTest, HealthIsAnExitCodeToo) {
  server_.providers.health.set_state(v1::ProviderHealth::Healthy);
  EXPECT_EQ(run({"provider", "health", "docker"}), 0);
  EXPECT_EQ(out_, "docker is Healthy\n");
  server_.providers.health.set_state(v1::ProviderHealth::Unhealthy);
  server_.providers.health.set_reason("no such socket");
  EXPECT_EQ(run({"provider", "health", "docker"}), 1);
  EXPECT_EQ(out_, "docker is Unhealthy: no such socket\n");
}

TEST_F(CliTest, BadWordsAboutProvidersAreRefusedBeforeTheyAreSent) {
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--max-workers", "many"},
                                              {"--cost", "-1"},
                                              {"--cost", "cheap"},
                                              {"--option", "alone"},
                                              {"--label", "=x"}}) {
    std::vector<std::string> words = {"provider", "add", "d", "--type", "docker"};
    words.insert(words.end(), bad.begin(), bad.end());
    EXPECT_NE(run(words), 0) << bad[0] << " " << bad[1];
    EXPECT_THAT(err_, HasSubstr(bad[0]));
  }
  EXPECT_NE(run({"provider", "add", "d"}), 0);
  EXPECT_THAT(err_, HasSubstr("--type"));
  EXPECT_TRUE(server_.providers.registered.empty());
}

TEST_F(CliTest, WhatTheServerRefusesIsSaid) {
  server_.providers.refuse = {grpc::FAILED_PRECONDITION, "provider 'd' still has 2 workers"};
  EXPECT_EQ(run({"provider", "rm", "d"}), 1);
  EXPECT_THAT(err_, HasSubstr("still has 2 workers"));
}

TEST_F(CliTest, APoolIsSetListedAndRemoved) {
  ASSERT_EQ(run({"pool", "set",   "p",   "--provider", "docker", "--image", "debian:12", "--min",
                 "1",    "--max", "4",   "--spare",    "2",      "--idle",  "1m30s",     "--slots",
                 "2",    "--cpu", "0.5", "--memory",   "2g",     "--label", "zone=a"}),
            0)
      << err_;
  const v1::Pool& pool = server_.providers.pools.at(0);
  EXPECT_EQ(pool.min(), 1);
  EXPECT_EQ(pool.max(), 4);
  EXPECT_EQ(pool.spare(), 2);
  EXPECT_EQ(pool.idle_ms(), 90'000);
  EXPECT_EQ(pool.slots(), 2);
  EXPECT_EQ(pool.size().cpu_cores(), 0.5);
  EXPECT_EQ(pool.size().memory_mb(), 2048);
  EXPECT_EQ(pool.labels().at("zone"), "a");
  ASSERT_EQ(run({"pool", "list"}), 0);
  EXPECT_THAT(out_, HasSubstr("1m30s"));
  ASSERT_EQ(run({"pool", "list", "-o", "yaml"}), 0);
  EXPECT_THAT(out_, HasSubstr("idle_ms: 90000"));
  ASSERT_EQ(run({"pool", "rm", "p"}), 0);
  EXPECT_EQ(server_.providers.removed.at(0), "p");
  ASSERT_EQ(run({"pool", "set", "q"}), 0);
  EXPECT_FALSE(server_.providers.pools.at(1).has_idle_ms()) << "the server's own default";
  EXPECT_NE(run({"pool", "set", "p", "--idle", "soon"}), 0);
  EXPECT_THAT(err_, HasSubstr("--idle"));
}

TEST_F(CliTest, TheLogOfAWorkerIsPrinted) {
  server_.workers.ids = {"docker-1", "docker-2"};
  ASSERT_EQ(run({"worker", "logs", "docker-2", "--tail", "7"}), 0) << err_;
  EXPECT_EQ(out_, "docker-2 printed 7\n");
  EXPECT_NE(run({"worker", "logs", "docker-2", "--tail", "0"}), 0);
  EXPECT_THAT(err_, HasSubstr("--tail"));
}

TEST_F(CliTest, AJobThatWaitsIsToldWhoCouldMakeAWorker) {
  server_.jobs.jobs = {job_in(v1::Job::Pending)};
  v1::SchedulingDecision& decision = server_.scheduler.decision;
  decision.set_provisioning("worker docker-7 is being created by provider docker (Creating)");
  v1::ProviderCandidate& can = *decision.add_providers();
  can.set_name("docker");
  can.set_fits(true);
  can.set_chosen(true);
  can.set_startup_ms(900);
  v1::ProviderCandidate& cannot = *decision.add_providers();
  cannot.set_name("process");
  cannot.set_reason("makes no images");
  ASSERT_EQ(run({"job", "explain", "j1"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("docker-7 is being created"));
  EXPECT_THAT(out_, HasSubstr("yes, first"));
  EXPECT_THAT(out_, HasSubstr("makes no images"));
  EXPECT_THAT(out_, Not(HasSubstr("hodei agent")));
}

TEST(RunNotes, SayThatAWorkerIsBeingMade) {
  v1::SchedulingDecision decision;
  decision.set_waiting_for("there are no workers; start one with `hodei agent`");
  EXPECT_EQ(waiting_note("j1", decision, false),
            "job j1 is waiting: there are no workers; start one with `hodei agent`");
  EXPECT_THAT(waiting_note("j1", decision, true), HasSubstr("(`hodei job explain j1` for details; Ctrl-C cancels it)"));
  decision.set_provisioning("worker docker-7 is being created by provider docker (Creating)");
  EXPECT_EQ(waiting_note("j1", decision, false),
            "job j1 is waiting: worker docker-7 is being created by provider docker (Creating)");
}

TEST_F(CliTest, CompletionKnowsTheCommandsOfProviders) {
  ASSERT_EQ(run({"completion", "bash"}), 0);
  EXPECT_THAT(out_, HasSubstr("'provider') next='add set list get health enable disable maintenance rm'"));
  EXPECT_THAT(out_, HasSubstr("'pool') next='set list rm'"));
}

}  // namespace
}  // namespace hodei::cli::provider_test
