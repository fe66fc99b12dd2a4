// Providers that could not make a worker: how long they are left alone, and what ends that.
#include "src/core/provision_harness.h"

namespace hodei::core::provider_trouble_test {
namespace {

TEST(ProviderTrouble, AWorkerThatComesEndsTheBackOffOfItsProvider) {
  Bench bench;
  add(bench, a_docker());
  for (int i = 0; i < 2; ++i) bench.submit(a_job().image("x"));
  const auto coming = asked(bench);
  ASSERT_EQ(coming.size(), 2u);
  bench.ask<Done>(WorkerFailed{coming[0]->info.id, MakingFailure::Trouble, "engine is down"});
  EXPECT_EQ(asked(bench).size(), 1u);
  arrives(bench, coming[1]->info.id.str());
  EXPECT_EQ(asked(bench).size(), 1u) << "for the other job, at once";
}

TEST(ProviderTrouble, IsTheReasonOfTheJobThatWaitsForAWorker) {
  for (const MakingFailure kind : {MakingFailure::Trouble, MakingFailure::Room, MakingFailure::Shape}) {
    Bench bench;
    add(bench, a_docker());
    const JobId job = bench.submit(a_job().image("x"));
    bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), kind, "no space left on device"});
    EXPECT_EQ(bench.job(job).past->reason, "provider docker could not create a worker for it: no space left on device");
  }
}

TEST(ProviderTrouble, AfterAJobHasStartedTheBackOffBeginsAnew) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  for (int i = 0; i < 5; ++i) {
    bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Trouble, "engine is down"});
    for (int s = 0; s < 400 && asked(bench).empty(); ++s) bench.advance(1s);
  }
  arrives(bench, only_asked(bench)).takes(job);
  bench.submit(a_job().image("y"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Trouble, "engine is down"});
  bench.advance(3s);
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST(ProviderTrouble, AProviderThatHadNoRoomIsTheFirstChoiceAgainSoon) {
  Bench bench;
  add(bench, a_docker().preferred(1));
  add(bench, a_provider("other").images().isolating(Isolation::Container));
  bench.submit(a_job().image("x"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Room, "quota exceeded"});
  arrives(bench, only_asked(bench));
  bench.advance(5s);
  bench.submit(a_job().image("x"));
  EXPECT_TRUE(only_asked(bench).starts_with("docker-")) << only_asked(bench);
}

TEST(ProviderTrouble, ARefusalThatWasOverIsForgottenWithASuitableWorker) {
  Bench bench;
  add(bench, a_docker());
  JobId job = bench.submit(a_job().image("x"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Shape, "no such flavour"});
  bench.advance(std::chrono::minutes(2) + 5s);
  const std::string good = only_asked(bench);
  Hand worker = arrives(bench, good);
  worker.takes(job).finishes(job);
  bench.advance(15s);
  worker.closes();
  bench.ask<Done>(WorkerDestroyed{WorkerId(good)});
  job = bench.submit(a_job().image("x"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Shape, "no such flavour"});
  bench.advance(std::chrono::minutes(2) + 5s);
  EXPECT_EQ(asked(bench).size(), 1u) << "as after a first refusal";
}

TEST(ProviderTrouble, OfTheProviderThatAJobNamesIsWhatTheJobIsExplainedWith) {
  Bench bench;
  add(bench, a_docker());
  ProviderOrder small = a_vm();
  small.facts.largest = {2000, 1024, 0, 0};
  add(bench, small);
  JobOrder order = a_job().cores(4);
  order.spec.shape.provider = "vm";
  const std::string text = bench.explain(bench.submit(order)).waiting_for;
  EXPECT_EQ(text, "provider vm creates workers with at most 2 cores, but 4 are needed");
}

TEST(ProviderTrouble, AfterARestartAWorkerThatRunsAndDoesNotRegisterIsGivenUp) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  bench.ask<Done>(WorkerMade{WorkerId(id), "h"});
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  bench.restart();
  bench.advance(58s);
  EXPECT_TRUE(destroyed(bench).empty());
  bench.advance(5s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
}

TEST(ProviderTrouble, ThatIsHopelessHasItsTimeHoweverLongTheJobHasWaited) {
  Bench bench;
  bench.ask<ProviderViews>(PutProvider{a_docker().row, true});  // nobody has seen it yet
  const JobId job = bench.submit(a_job().image("none"));
  bench.advance(std::chrono::minutes(10));
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Healthy, ""});
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  bench.advance(60s);
  EXPECT_EQ(bench.state(job), JobState::Pending) << "somebody may still push the image";
}

TEST(Unmakable, EachJobHasItsOwnTime) {
  Bench bench;
  add(bench, a_docker());
  const JobId first = bench.submit(a_job().image("none"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  bench.advance(std::chrono::minutes(2) + 5s);
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  bench.advance(std::chrono::minutes(2));
  const JobId second = bench.submit(a_job().image("none"));
  bench.advance(90s);
  EXPECT_EQ(bench.state(first), JobState::Failed);
  EXPECT_EQ(bench.state(second), JobState::Pending);
}

TEST(Unmakable, AJobThatAStandingWorkerCanRunDoesNotFail) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("none"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  const JobId urgent = bench.submit(a_job().image("none").priority(Priority::Critical));
  Hand worker = bench.worker("w1");
  worker.joins(a_worker().image("none"));
  worker.takes(urgent);
  bench.advance(std::chrono::minutes(7));
  EXPECT_EQ(bench.state(job), JobState::Pending) << "the worker is busy, and will not always be";
  worker.finishes(urgent);
  EXPECT_EQ(bench.where(job), "w1");
}

TEST(ProviderTrouble, IsNotThatWorkersAreDrainedBeforeTheyCome) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  for (int i = 0; i < 5; ++i) {
    const WorkerId id(only_asked(bench));
    bench.ask<Drained>(DrainWorker{id, ""});
    bench.ask<Done>(WorkerDestroyed{id});
    bench.advance(3s);
  }
  EXPECT_EQ(asked(bench).size(), 1u);
}

}  // namespace
}  // namespace hodei::core::provider_trouble_test
