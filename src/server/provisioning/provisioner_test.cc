#include "src/server/provisioning/provisioner.h"

#include <future>

#include "gtest/gtest.h"
#include "src/base/sha256.h"
#include "src/server/provisioning/fake_maker.h"
#include "src/server/provisioning/provider_inventory.h"

namespace hodei::server::provisioner_test {
namespace {

class ProvisionerTest : public testing::Test {
 protected:
  ProvisionerTest() { known({"one"}); }
  ~ProvisionerTest() override {
    for (const auto& [name, world] : worlds_) {
      const std::lock_guard lock(world->mutex);
      world->stuck.clear();
      world->changed.notify_all();
    }
  }

  FakeWorld& world(const std::string& name = "one") {
    std::shared_ptr<FakeWorld>& found = worlds_[name];
    if (found == nullptr) found = std::make_shared<FakeWorld>();
    return *found;
  }

  void known(const std::vector<std::string>& names) {
    std::vector<core::ProviderView> views;
    for (const std::string& name : names) {
      world(name);
      core::ProviderView view;
      view.provider.row.name = name;
      view.provider.row.type = "fake";
      view.provider.row.options = options_;
      views.push_back(view);
    }
    engine_.set_providers(views);
  }

  void build() {
    ProvisionerSetup setup;
    setup.make = [this](const providers::ProviderConfig& config,
                        const providers::Installation&) -> absl::StatusOr<std::unique_ptr<providers::Provider>> {
      if (config.options.contains("bad")) return absl::InvalidArgumentError("options.bad: is bad");
      return std::make_unique<FakeMaker>(worlds_.at(config.name));
    };
    maker_ = std::make_unique<Provisioner>(
        [this](core::Command c, const ReplyTo& r, const core::EnvelopePtr&) { engine_.post(std::move(c), r); }, clock_,
        std::move(setup));
  }

  void start() {
    build();
    maker_->start("127.0.0.1:50051");
    ASSERT_TRUE(engine_.wait<core::ProviderSeen>());
    ASSERT_TRUE(engine_.wait<core::Inventory>());
  }

  void create(const std::string& worker, const std::string& provider = "one") {
    auto record = std::make_shared<core::WorkerRecord>();
    record->info.id = WorkerId(worker);
    record->info.capacity = {1500, 256, 0, 0};
    record->info.image = "an-image";
    record->info.labels = {{"zone", "a"}};
    record->info.made = core::Made{.provider = provider, .pool = "p"};
    maker_->create({record});
  }
  void destroy(const std::string& worker, const std::string& handle = "") {
    maker_->destroy({"one", WorkerId(worker), handle});
  }

  void pass(Duration time) {
    clock_.advance(time);
    maker_->wake();
  }

  std::map<std::string, std::shared_ptr<FakeWorld>> worlds_;
  std::map<std::string, std::string> options_;
  HandClock clock_;
  FakeEngine engine_;
  std::unique_ptr<Provisioner> maker_;
};

TEST_F(ProvisionerTest, TellsWhatAProviderCanDoAndHowItIs) {
  world().health = {providers::HealthState::Degraded, "slow today"};
  start();
  const auto seen = engine_.wait<core::ProviderSeen>();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->name, "one");
  EXPECT_EQ(seen->health, core::HealthState::Degraded);
  EXPECT_EQ(seen->reason, "slow today");
  EXPECT_EQ(seen->facts.max_workers, 7u);
  EXPECT_EQ(seen->facts.largest.cpu_milli, 4000);
  EXPECT_TRUE(seen->facts.images);
  EXPECT_EQ(seen->facts.startup, Duration(1s));
}

TEST_F(ProvisionerTest, MakesAWorkerWithATokenThatTheEngineKnows) {
  start();
  create("w1");
  const auto otp = engine_.of<core::MakeOtp>("w1");
  const auto made = engine_.of<core::WorkerMade>("w1");
  ASSERT_TRUE(otp && made);
  EXPECT_EQ(made->handle, "thing-w1");
  ASSERT_TRUE(engine_.of<core::WorkerRuns>("w1"));
  const std::lock_guard lock(world().mutex);
  const providers::WorkerSpec& spec = world().specs["w1"];
  EXPECT_EQ(secret_hash(spec.token), otp->token);
  EXPECT_EQ(spec.server_address, "127.0.0.1:50051");
  EXPECT_EQ(spec.image, "an-image");
  EXPECT_EQ(spec.cpu_milli, 1500);
  EXPECT_EQ(spec.pool, "p");
  EXPECT_EQ(spec.labels.at("zone"), "a");
}

TEST_F(ProvisionerTest, SaysWhoseFaultAFailureIs) {
  start();
  const auto failing = [&](const std::string& worker, const absl::Status& why) {
    {
      const std::lock_guard lock(world().mutex);
      world().create_answer = why;
    }
    create(worker);
    const auto failed = engine_.of<core::WorkerFailed>(worker);
    EXPECT_TRUE(failed && failed->reason == why.message()) << worker;
    return failed ? failed->kind : core::MakingFailure{};
  };
  EXPECT_EQ(failing("w1", absl::NotFoundError("no such image")), core::MakingFailure::Hopeless);
  EXPECT_EQ(failing("w2", absl::InvalidArgumentError("no gpu")), core::MakingFailure::Shape);
  EXPECT_EQ(failing("w3", absl::FailedPreconditionError("not here")), core::MakingFailure::Shape);
  EXPECT_EQ(failing("w4", absl::ResourceExhaustedError("full")), core::MakingFailure::Room);
  EXPECT_EQ(failing("w5", absl::UnavailableError("away")), core::MakingFailure::Trouble);
  EXPECT_EQ(engine_.count<core::WorkerMade>(), 0);
}

TEST_F(ProvisionerTest, ASlowProviderHoldsUpNobodyElse) {
  known({"one", "two"});
  world().stuck = {"create"};
  start();
  for (int i = 0; i < 20; ++i) create("slow-" + std::to_string(i));
  create("quick", "two");
  EXPECT_TRUE(engine_.of<core::WorkerMade>("quick"));
  EXPECT_EQ(engine_.count<core::WorkerMade>(), 1);
  const std::lock_guard lock(world().mutex);
  EXPECT_LE(world().calls.size(), WorkerLifecycle::kCreators + 2);  // and health and list
}

TEST_F(ProvisionerTest, DestroysOnlyAfterTheCreateReturned) {
  world().stuck = {"create"};
  start();
  create("w1");
  ASSERT_TRUE(world().wait([&] { return world().count("create w1") == 1; }));
  destroy("w1");
  destroy("w1", "later");
  pass(1s);
  {
    const std::lock_guard lock(world().mutex);
    EXPECT_EQ(world().count("destroy w1"), 0);
  }
  world().free("create");
  ASSERT_TRUE(engine_.of<core::WorkerDestroyed>("w1"));
  EXPECT_EQ(engine_.count<core::WorkerMade>(), 0);
  const std::lock_guard lock(world().mutex);
  EXPECT_TRUE(world().things.empty());
  EXPECT_EQ(world().count("destroy w1"), 1);
}

TEST_F(ProvisionerTest, AFailedCreateThatIsNotWantedAnyMoreIsDestroyedToo) {
  world().stuck = {"create"};
  world().create_answer = absl::DeadlineExceededError("no answer");
  start();
  create("w1");
  ASSERT_TRUE(world().wait([&] { return world().count("create w1") == 1; }));
  destroy("w1");
  world().free("create");
  ASSERT_TRUE(engine_.of<core::WorkerDestroyed>("w1"));
  const std::lock_guard lock(world().mutex);
  EXPECT_EQ(world().count("destroy w1"), 1);
}

TEST_F(ProvisionerTest, WhatOnlyWaitedToBeMadeIsNeverMade) {
  world().stuck = {"create"};
  start();
  for (size_t i = 0; i < WorkerLifecycle::kCreators; ++i) create("busy-" + std::to_string(i));
  ASSERT_TRUE(world().wait([&] {
    return std::count_if(world().calls.begin(), world().calls.end(), [](const auto& call) {
             return call.starts_with("create busy");
           }) == WorkerLifecycle::kCreators;
  }));
  create("late");
  destroy("late");
  ASSERT_TRUE(engine_.of<core::WorkerDestroyed>("late"));
  world().free("create");
  for (size_t i = 0; i < WorkerLifecycle::kCreators; ++i)
    ASSERT_TRUE(engine_.of<core::WorkerMade>("busy-" + std::to_string(i)));
  create("after");
  ASSERT_TRUE(engine_.of<core::WorkerMade>("after"));
  const std::lock_guard lock(world().mutex);
  EXPECT_EQ(world().count("create late"), 0);
}

TEST_F(ProvisionerTest, DestroysAgainUntilNothingIsLeft) {
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerMade>("w1"));
  {
    const std::lock_guard lock(world().mutex);
    world().destroy_answer = absl::UnavailableError("not now");
  }
  destroy("w1");
  for (int tries = 1; tries <= 3; ++tries) {
    ASSERT_TRUE(world().wait([&] { return world().count("destroy w1") >= tries; })) << tries;
    if (tries == 3) {
      const std::lock_guard lock(world().mutex);
      world().destroy_answer = absl::OkStatus();
    }
    // The back-off starts when the call has returned, which the test does not see: time goes on until it has.
    world().wait([&] {
      clock_.advance(WorkerLifecycle::kLongestBackOff);
      maker_->wake();
      return world().count("destroy w1") > tries;
    });
  }
  EXPECT_TRUE(engine_.of<core::WorkerDestroyed>("w1"));
}

TEST_F(ProvisionerTest, NoticesAWorkerThatEndsBeforeItRegisters) {
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerRuns>("w1"));
  {
    const std::lock_guard lock(world().mutex);
    world().things["w1"] = {providers::WorkerPhase::Ended, "exit code 3", false};
  }
  pass(WorkerLooks::kEvery);
  const auto failed = engine_.of<core::WorkerFailed>("w1");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->reason, "exit code 3");
  EXPECT_EQ(failed->kind, core::MakingFailure::Trouble);
}

TEST_F(ProvisionerTest, AStartWithoutHopeIsToldAsSuch) {
  world().fresh = {providers::WorkerPhase::Starting, "no such image", true};
  start();
  create("w1");
  const auto failed = engine_.of<core::WorkerFailed>("w1");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->kind, core::MakingFailure::Hopeless);
  EXPECT_EQ(engine_.count<core::WorkerRuns>(), 0);
}

TEST_F(ProvisionerTest, LooksAtOnceWhenTheProviderSaysThatSomethingChanged) {
  world().fresh = {providers::WorkerPhase::Starting, "", false};
  start();
  create("w1");
  ASSERT_TRUE(world().wait([&] { return world().count("status w1") == 1; }));
  providers::Provider::Changed watcher;
  {
    const std::lock_guard lock(world().mutex);
    world().things["w1"].phase = providers::WorkerPhase::Running;
    watcher = world().watcher;
  }
  ASSERT_TRUE(watcher);
  watcher("w1");
  EXPECT_TRUE(engine_.of<core::WorkerRuns>("w1"));  // no time has passed
}

TEST_F(ProvisionerTest, LooksSeldomAtAWorkerThatHasRegistered) {
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerRuns>("w1"));
  maker_->registered(WorkerId("w1"));
  const int looks = [&] {
    const std::lock_guard lock(world().mutex);
    return world().count("status w1");
  }();
  create("w2");
  ASSERT_TRUE(engine_.of<core::WorkerRuns>("w2"));
  pass(WorkerLooks::kEvery);
  ASSERT_TRUE(world().wait([&] { return world().count("status w2") >= 2; }));
  {
    const std::lock_guard lock(world().mutex);
    EXPECT_EQ(world().count("status w1"), looks);
  }
  pass(WorkerLooks::kAtRegisteredEvery);
  EXPECT_TRUE(world().wait([&] { return world().count("status w1") > looks; }));
}

TEST_F(ProvisionerTest, TellsWhatIsThereAtTheStartAndEveryMinute) {
  world().things["old"] = {providers::WorkerPhase::Running, "", false};
  start();
  const auto inventory = engine_.wait<core::Inventory>();
  ASSERT_TRUE(inventory);
  ASSERT_EQ(inventory->workers.size(), 1u);
  EXPECT_EQ(inventory->workers[0].worker, WorkerId("old"));
  EXPECT_EQ(inventory->workers[0].handle, "thing-old");
  pass(ProviderInventory::kEvery);
  EXPECT_TRUE(engine_.wait<core::Inventory>([](const auto&) { return true; }, 2));
}

TEST_F(ProvisionerTest, NoticesTheEndOfAWorkerOfAnEarlierServer) {
  world().things["old"] = {providers::WorkerPhase::Ended, "", false};
  start();
  pass(WorkerLooks::kEvery);
  EXPECT_TRUE(engine_.of<core::WorkerFailed>("old"));
}

TEST_F(ProvisionerTest, SaysAgainWhatTheEngineCouldNotTake) {
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerRuns>("w1"));
  engine_.set_away(true);
  destroy("w1");
  ASSERT_TRUE(engine_.has_refused(1));
  EXPECT_EQ(engine_.count<core::WorkerDestroyed>(), 0);
  engine_.set_away(false);
  EXPECT_TRUE(world().wait([&] { return pass(1s), engine_.count<core::WorkerDestroyed>() == 1; }));
}

TEST_F(ProvisionerTest, WithoutATokenNothingIsMade) {
  start();
  engine_.set_away(true);
  create("w1");
  ASSERT_TRUE(engine_.has_refused(2));  // the token, and that it failed for want of it
  engine_.set_away(false);
  ASSERT_TRUE(world().wait([&] { return pass(1s), engine_.count<core::WorkerFailed>() == 1; }));
  const auto failed = engine_.of<core::WorkerFailed>("w1");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->kind, core::MakingFailure::Trouble);
  const std::lock_guard lock(world().mutex);
  EXPECT_EQ(world().count("create w1"), 0);
}

TEST_F(ProvisionerTest, ACheckOfHealthThatHangsIsUnhealthy) {
  start();
  {
    const std::lock_guard lock(world().mutex);
    world().stuck = {"health"};
  }
  const int before = [&] {
    const std::lock_guard lock(world().mutex);
    return world().count("health");
  }();
  pass(ProviderHealth::kEvery);
  ASSERT_TRUE(world().wait([&] { return world().count("health") > before; }));
  pass(providers::kCallTimeout);
  EXPECT_TRUE(
      engine_.wait<core::ProviderSeen>([](const auto& seen) { return seen.health == core::HealthState::Unhealthy; }));
}

TEST_F(ProvisionerTest, StopsAlthoughAProviderHangs) {
  world().stuck = {"create", "destroy", "list"};
  build();
  maker_->start("127.0.0.1:1");
  ASSERT_TRUE(engine_.wait<core::ProviderSeen>());
  create("w1");
  destroy("w2");
  ASSERT_TRUE(world().wait([&] { return world().count("create w1") == 1 && world().count("destroy w2") == 1; }));
  maker_->stop();
  const int told = engine_.count<core::WorkerMade>() + engine_.count<core::WorkerDestroyed>();
  {
    const std::lock_guard lock(world().mutex);
    world().stuck.clear();
    world().changed.notify_all();
  }
  maker_.reset();
  // Those that hung end now, and nobody hears of it.
  EXPECT_TRUE(world().wait([&] { return world().objects == 0; }));
  EXPECT_EQ(told, 0);
  EXPECT_EQ(engine_.count<core::WorkerMade>() + engine_.count<core::WorkerDestroyed>(), 0);
}

TEST_F(ProvisionerTest, AProviderWithBadOptionsIsUnhealthyAndMakesNothing) {
  options_ = {{"bad", "1"}};
  known({"one"});
  build();
  maker_->start("127.0.0.1:1");
  const auto seen = engine_.wait<core::ProviderSeen>();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->health, core::HealthState::Unhealthy);
  EXPECT_EQ(seen->reason, "options.bad: is bad");
  create("w1");
  EXPECT_TRUE(engine_.of<core::WorkerFailed>("w1"));
}

TEST_F(ProvisionerTest, OtherOptionsMeanAnotherObjectAndTheSameWorkers) {
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerRuns>("w1"));
  options_ = {{"size", "2"}};
  known({"one"});
  maker_->providers_changed();
  ASSERT_TRUE(engine_.wait<core::Inventory>([](const auto&) { return true; }, 2));
  EXPECT_TRUE(world().wait([&] { return world().objects == 1; }));
  destroy("w1");
  EXPECT_TRUE(engine_.of<core::WorkerDestroyed>("w1"));
}

TEST_F(ProvisionerTest, WishesThatComeBeforeTheProvidersAreKnownWait) {
  build();
  create("w1");
  destroy("w2", "thing");
  maker_->start("127.0.0.1:1");
  EXPECT_TRUE(engine_.of<core::WorkerMade>("w1"));
  EXPECT_TRUE(engine_.of<core::WorkerDestroyed>("w2"));
}

TEST_F(ProvisionerTest, AWorkerOfAProviderThatIsNotThereFails) {
  start();
  create("w1", "other");
  const auto failed = engine_.of<core::WorkerFailed>("w1");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->reason, "provider 'other' does not exist; see `hodei provider list`");
}

TEST_F(ProvisionerTest, AProviderThatWasRemovedIsLetGo) {
  start();
  engine_.set_providers({});
  maker_->providers_changed();
  EXPECT_TRUE(world().wait([&] { return world().objects == 0; }));
}

TEST_F(ProvisionerTest, AskedAgainForAWorkerItAnswersWithTheOneThatIsThere) {
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerMade>("w1"));
  create("w1");
  EXPECT_TRUE(engine_.wait<core::WorkerMade>([](const auto&) { return true; }, 2));
  const std::lock_guard lock(world().mutex);
  EXPECT_EQ(world().count("create w1"), 1);
}

TEST_F(ProvisionerTest, EndsEverythingAndMakesNothingMore) {
  world().things["old"] = {providers::WorkerPhase::Running, "", false};
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerMade>("w1"));
  EXPECT_TRUE(maker_->end_all(kPatience));
  create("w2");
  destroy("w3");
  EXPECT_TRUE(engine_.of<core::WorkerDestroyed>("w3"));
  const std::lock_guard lock(world().mutex);
  EXPECT_TRUE(world().things.empty());
  EXPECT_EQ(world().count("create w2"), 0);
}

TEST_F(ProvisionerTest, DoesNotWaitForEverForTheEndOfEverything) {
  world().stuck = {"destroy"};
  start();
  create("w1");
  ASSERT_TRUE(engine_.of<core::WorkerMade>("w1"));
  EXPECT_FALSE(maker_->end_all(10ms));
}

TEST_F(ProvisionerTest, PeopleAskForHealthAndLogs) {
  start();
  std::promise<absl::StatusOr<providers::Health>> health;
  maker_->check_health("one", [&](absl::StatusOr<providers::Health> h) { health.set_value(std::move(h)); });
  EXPECT_EQ(health.get_future().get()->state, providers::HealthState::Healthy);
  core::WorkerRecord record;
  record.info.id = WorkerId("w1");
  const auto logs = [&] {
    std::promise<absl::StatusOr<std::string>> text;
    maker_->worker_logs(record, 5, [&](absl::StatusOr<std::string> t) { text.set_value(std::move(t)); });
    return text.get_future().get();
  };
  EXPECT_EQ(logs().status().message(), "worker 'w1' was started by hand; look for its log where it was started");
  record.info.made = core::Made{.provider = "one", .handle = "thing-w1"};
  EXPECT_EQ(logs().value(), "log of thing-w1, 5");
}

}  // namespace
}  // namespace hodei::server::provisioner_test
