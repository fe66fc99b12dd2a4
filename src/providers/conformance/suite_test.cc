// The suite itself: a good provider passes, and each bad one is found out by the check that is about its fault.
#include "src/providers/conformance/suite.h"

#include "gtest/gtest.h"
#include "src/providers/conformance/fake_provider.h"

namespace hodei::providers::suite_test {
namespace {

struct Judged {
  std::string found;

  bool names(const std::string& check) const { return found.find(check + ": ") != std::string::npos; }
  bool says(const std::string& words) const { return found.find(words) != std::string::npos; }
};

Judged judge(Fault fault, bool outside = true) {
  FakeEngine engine;
  SuiteSetup setup;
  setup.make = [&](const Installation& installation) -> absl::StatusOr<std::unique_ptr<Provider>> {
    return std::make_unique<FakeProvider>(engine, installation, 3, fault);
  };
  setup.installation = {.id = "ours", .folder = "unused", .worker_binary = ""};
  setup.room = 3;
  setup.patience = fault == Fault::NeverRuns || fault == Fault::SaysRunningForEver ? 20ms : 5s;
  if (outside) setup.outside = [&] { return engine.things("ours"); };
  setup.crash = [&](const WorkerHandle& handle) {
    const std::scoped_lock lock(engine.mutex);
    engine.all.at(handle.id).ended = true;
  };
  return {as_text(check_provider(setup))};
}

TEST(ProviderSuite, AGoodProviderPasses) {
  EXPECT_EQ(judge(Fault::None).found, "");
  EXPECT_EQ(judge(Fault::None, false).found, "");
}

TEST(ProviderSuite, FindsOneThatLeaks) {
  for (const bool outside : {true, false}) {
    EXPECT_TRUE(
        judge(Fault::Leaks, outside)
            .says("makes a worker that runs: list_workers still shows suite-3-1 (Running): at the end of the check"));
  }
}

TEST(ProviderSuite, FindsOneThatLeaksAndSaysOtherwise) {
  EXPECT_TRUE(judge(Fault::ForgetsAndLeaks).says("destroys all of it: left behind: thing"));
}

TEST(ProviderSuite, FindsOneThatLiesAboutStatus) {
  EXPECT_TRUE(
      judge(Fault::SaysRunningForEver).says("tells when it ended: suite-14-1 is Running, expected Ended or Gone"));
  EXPECT_TRUE(judge(Fault::SaysGoneTooSoon).names("makes no second one for the same id"));
  EXPECT_TRUE(judge(Fault::NeverRuns).says("makes a worker that runs: suite-3-1 is Starting, expected Running"));
  EXPECT_TRUE(judge(Fault::ErrorForUnknown).says("knows what it never made: worker_status of never-was: NOT_FOUND"));
  EXPECT_TRUE(judge(Fault::Unhealthy).says("is healthy: health_check says 2 (says so), expected Healthy"));
}

TEST(ProviderSuite, FindsOneThatIgnoresItsLimit) {
  EXPECT_TRUE(judge(Fault::IgnoresItsLimit).says(" workers are there, 3 are allowed"));
  EXPECT_TRUE(judge(Fault::RacesItsLimit).says("keeps to its room: 9 were asked for"));
  EXPECT_TRUE(judge(Fault::WrongErrorWhenFull).says("keeps to its room: create_worker without room: UNAVAILABLE"));
  EXPECT_TRUE(judge(Fault::KeepsRoom).says("keeps to its room: a destroyed worker's room stays taken"));
}

TEST(ProviderSuite, FindsOneThatTouchesOtherInstallations) {
  const Judged judged = judge(Fault::TouchesOthers);
  EXPECT_TRUE(judged.says("leaves other installations alone: another installation sees"));
  EXPECT_TRUE(judged.says("leaves other installations alone: another installation destroyed"));
}

TEST(ProviderSuite, FindsOneThatMakesASecondForTheSameId) {
  EXPECT_TRUE(judge(Fault::MakesTwice).names("makes no second one for the same id"));
  EXPECT_TRUE(judge(Fault::MakesTwice).names("makes one when asked at once"));
}

TEST(ProviderSuite, FindsOneThatForgetsAtARestart) {
  EXPECT_TRUE(judge(Fault::ForgetsAtRestart).says("finds it after a restart: list_workers shows suite-8-1 0 times"));
}

TEST(ProviderSuite, FindsOneThatCannotDestroyByWorkerId) {
  EXPECT_TRUE(judge(Fault::NeedsTheHandleId).names("destroys by worker id"));
  EXPECT_TRUE(judge(Fault::FailsTheSecondDestroy).says("destroys all of it: the second destroy is not OK"));
}

TEST(ProviderSuite, FindsOneThatTellsTheToken) {
  const Judged judged = judge(Fault::TellsTheToken);
  EXPECT_TRUE(judged.says("shows logs: the token is in the worker's logs"));
  EXPECT_TRUE(judged.says("makes a worker that runs: the token is in the handle"));
}

TEST(ProviderSuite, FindsOneThatTakesAnyImage) {
  EXPECT_TRUE(judge(Fault::TakesAnyImage).names("refuses a missing image"));
}

TEST(ProviderSuite, FindsOneThatLogsMoreThanAskedFor) {
  EXPECT_TRUE(judge(Fault::LogsTooMuch).says("shows logs: worker_logs gave 2 lines, 1 were asked for"));
}

TEST(ProviderSuite, FindsOneThatCannotBeMade) {
  SuiteSetup setup;
  setup.make = [](const Installation&) -> absl::StatusOr<std::unique_ptr<Provider>> {
    return absl::InternalError("broken");
  };
  const std::vector<Finding> found = check_provider(setup);
  ASSERT_EQ(found.size(), suite_checks().size());
  EXPECT_EQ(found[0].check, suite_checks()[0]);
  EXPECT_EQ(found[0].what, "the provider cannot be made: INTERNAL: broken");
}

}  // namespace
}  // namespace hodei::providers::suite_test
