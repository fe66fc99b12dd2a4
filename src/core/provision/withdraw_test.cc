// Workers on their way: those that hold others up, that nobody wants any more, or that turn out not to fit.
#include "src/core/provision_harness.h"

namespace hodei::core::withdraw_test {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// It registers with fewer cores than it was ordered with.
Hand arrives_with(Bench& bench, const std::string& id, int64_t cpu_milli) {
  WorkerOrder order;
  order.info = bench.rows.workers.at(WorkerId(id))->info;
  order.info.made.reset();
  order.info.capacity.cpu_milli = cpu_milli;
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  Hand hand = bench.worker(id);
  hand.joins(order);
  return hand;
}

TEST(Misfit, AWorkerThatDoesNotFitItsJobIsNotMadeAgainInTheSameWay) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x").milli(250));
  const std::string first = only_asked(bench);
  EXPECT_EQ(bench.rows.workers.at(WorkerId(first))->info.capacity.cpu_milli, 250);
  arrives_with(bench, first, 200);
  bench.advance(60s);
  EXPECT_EQ(bench.told<CreateWorker>().size(), 1u);
  const Explanation why = bench.explain(job);
  EXPECT_TRUE(has(why.waiting_for, cat("worker ", first))) << why.waiting_for;
  EXPECT_TRUE(has(why.waiting_for, "has 0.2 cores, but the job needs 0.25")) << why.waiting_for;
  EXPECT_TRUE(has(bench.job(job).past->reason, "has 0.2 cores, but the job needs 0.25")) << bench.job(job).past->reason;
  bench.advance(std::chrono::minutes(2));
  EXPECT_EQ(bench.told<CreateWorker>().size(), 2u) << "tried again after a while";
  arrives_with(bench, only_asked(bench), 200);
  bench.advance(std::chrono::minutes(3));
  EXPECT_EQ(bench.told<CreateWorker>().size(), 2u) << "and left alone for longer each time";
  bench.advance(std::chrono::minutes(2));
  arrives_with(bench, only_asked(bench), 250).takes(job);
}

TEST(Misfit, OtherShapesAreStillMade) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x").milli(250));
  arrives_with(bench, only_asked(bench), 200);
  const JobId other = bench.submit(a_job().image("x").milli(500));
  arrives_with(bench, only_asked(bench), 500).takes(other);
}

// Registers as what it was to be, and says in its hello that it is unfit.
void arrives_unfit(Bench& bench, const std::string& id) {
  const uint64_t n = ++bench.numbers;
  const Hash128 token = hash128(cat("token ", n));
  const Hash128 session = hash128(cat("session ", n));
  WorkerInfo info = bench.rows.workers.at(WorkerId(id))->info;
  info.made.reset();
  bench.ask<Done>(WorkerMade{WorkerId(id), "handle"});
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  bench.ask<OtpMade>(MakeOtp{token, WorkerId(id)});
  bench.ask<Registered>(RegisterWorker{token, {}, session, info, cat("incarnation ", n), "", 0});
  bench.ask<StreamOpened>(OpenStream{
      .session = session, .incarnation = cat("incarnation ", n), .stream = ++bench.numbers, .unfit = "disk full"});
}

TEST(Misfit, WorkersThatComeUnfitAreMadeLessAndLessOften) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  size_t made = 0;
  for (int second = 0; second < 300; ++second) {
    for (const WorkerRecordPtr& one : asked(bench)) arrives_unfit(bench, one->info.id.str());
    bench.advance(1s);
    made = bench.told<CreateWorker>().size();
  }
  EXPECT_GT(made, 2u) << "it is tried again";
  EXPECT_LT(made, 12u) << "and left alone for longer each time";
  EXPECT_TRUE(has(bench.explain(job).waiting_for, "disk full")) << bench.explain(job).waiting_for;
}

TEST(Misfit, WorkersThatTurnUnfitBeforeTheyStartAnythingLikewise) {
  Bench bench;
  add(bench, a_docker());
  JobId job = bench.submit(a_job().image("x"));
  for (int second = 0; second < 300; ++second) {
    for (const WorkerRecordPtr& one : asked(bench)) {
      const WorkerId id = one->info.id;
      bench.cancel(job);  // nothing is sent to it
      Hand worker = arrives(bench, id.str());
      bench.ask<HeartbeatTaken>(Heartbeat{.worker = id, .stream = worker.stream(), .unfit = "no gpu"});
      worker.goes_silent();  // its next heartbeat would say that all is well again
      job = bench.submit(a_job().image("x"));
    }
    bench.advance(1s);
  }
  EXPECT_GT(bench.told<CreateWorker>().size(), 2u) << "it is tried again";
  EXPECT_LT(bench.told<CreateWorker>().size(), 12u) << "and left alone for longer each time";
}

TEST(Withdraw, SaysWhyTheWorkerEnded) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const WorkerId id(only_asked(bench));
  bench.cancel(job);
  bench.advance(5s);
  EXPECT_EQ(bench.rows.workers.at(id)->info.end_reason, "it was no longer needed");
}

TEST(HeldUp, WhatIsMadeForALargeJobIsNotCountedForASmallOne) {
  Bench bench;
  add(bench, a_docker());
  const JobId large = bench.submit(a_job().image("x").cores(900));
  const std::string first = only_asked(bench);
  bench.ask<Done>(WorkerHeldUp{WorkerId(first), "Unschedulable: 1 Insufficient cpu"});
  const JobId small = bench.submit(a_job().image("x"));
  ASSERT_EQ(asked(bench).size(), 2u);
  arrives_with(bench, asked(bench)[1]->info.id.str(), 1000).takes(small).finishes(small);
  const Explanation why = bench.explain(large);
  EXPECT_TRUE(has(why.waiting_for, "Unschedulable: 1 Insufficient cpu")) << why.waiting_for;
  EXPECT_EQ(why.waiting_for, why.provisioning);
  EXPECT_TRUE(has(bench.job(large).past->reason, "Insufficient cpu"));
}

TEST(HeldUp, WhatIsMadeForAnotherJobIsItsAlsoWhileAllIsWell) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x").cores(900));
  bench.submit(a_job().image("x"));
  EXPECT_EQ(asked(bench).size(), 2u);
}

TEST(HeldUp, SpareSlotsOfAWorkerThatDoesNotStartAreNotCounted) {
  Bench bench;
  add(bench, a_docker());
  bench.ask<Done>(PutPool{{.name = "p", .image = "x", .slots = 2}});
  bench.submit(a_job().pool("p").cores(8));
  bench.ask<Done>(WorkerHeldUp{WorkerId(only_asked(bench)), "Unschedulable"});
  bench.submit(a_job().pool("p").cores(1));
  EXPECT_EQ(asked(bench).size(), 2u);
}

TEST(HeldUp, ManyOfThemDoNotUseUpWhatMayBeMadeAtOnce) {
  Bench bench;
  add(bench, a_docker());
  for (int i = 0; i < 30; ++i) bench.submit(a_job().image("x").cores(900));
  while (!asked(bench).empty()) {
    const size_t before = asked(bench).size();
    for (const WorkerRecordPtr& record : asked(bench)) {
      bench.ask<Done>(WorkerHeldUp{record->info.id, "Unschedulable"});
    }
    if (asked(bench).size() == before) break;
  }
  const size_t held_up = asked(bench).size();
  EXPECT_GE(held_up, kMaxHeldUpWorkers);
  EXPECT_LE(held_up, kMaxHeldUpWorkers + kMaxStartingWorkers);
  bench.submit(a_job().image("x"));
  EXPECT_EQ(asked(bench).size(), held_up + 1);
}

TEST(HeldUp, AJobThatAQuotaHoldsBackIsExplainedWithTheQuotaAndNotWithAWorkerForItsLike) {
  Bench bench;
  add(bench, a_docker());
  const JobId first = bench.submit(a_job().image("x"));
  const JobId second = bench.submit(a_job().image("x"));
  ASSERT_EQ(asked(bench).size(), 2u);
  bench.ask<TenantViews>(SetTenant{.ns = "default", .max_running = 1});
  arrives(bench, asked(bench)[0]->info.id.str()).takes(first);
  const Explanation why = bench.explain(second);
  EXPECT_TRUE(has(why.waiting_for, "max_running")) << why.waiting_for;
  EXPECT_EQ(why.provisioning, "") << "that is what people are shown first";
}

TEST(HeldUp, TheDeadlineQuotesTheProvider) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  bench.ask<Done>(WorkerHeldUp{WorkerId(only_asked(bench)), "no node takes it"});
  bench.advance(std::chrono::minutes(11) + 2s);
  const std::string text = bench.explain(job).waiting_for;
  EXPECT_TRUE(has(text, "the last attempt failed: worker ")) << text;
  EXPECT_TRUE(has(text, "no node takes it")) << text;
}

// One place, and a worker in it that does not start.
std::string stuck_one(Bench& bench, JobId& large) {
  add(bench, a_docker().most(1));
  large = bench.submit(a_job().image("x").cores(900));
  const std::string stuck = only_asked(bench);
  bench.ask<Done>(WorkerHeldUp{WorkerId(stuck), "Unschedulable: 1 Insufficient cpu"});
  return stuck;
}

TEST(Yield, AWorkerThatDoesNotStartGivesItsPlaceToAnotherJobAfterAWhile) {
  Bench bench;
  JobId large{};
  const std::string stuck = stuck_one(bench, large);
  const JobId small = bench.submit(a_job().image("x"));
  EXPECT_TRUE(has(bench.explain(small).waiting_for, "at its limit of 1 worker, of which 1 does not start"))
      << bench.explain(small).waiting_for;
  bench.advance(kYieldAfter - 5s);
  EXPECT_TRUE(destroyed(bench).empty()) << "what is slow to start is not stuck yet";
  bench.advance(10s);
  ASSERT_EQ(destroyed(bench), std::vector<std::string>{stuck});
  EXPECT_TRUE(has(bench.job(large).past->reason, "Insufficient cpu")) << bench.job(large).past->reason;
  bench.ask<Done>(WorkerDestroyed{WorkerId(stuck)});
  Hand worker = arrives_with(bench, only_asked(bench), 1000);
  worker.takes(small).finishes(small);
  EXPECT_TRUE(has(bench.explain(large).waiting_for, "its place was needed for other jobs"))
      << bench.explain(large).waiting_for;
  EXPECT_EQ(bench.state(large), JobState::Pending);
}

TEST(Yield, ItDoesNotMatterThatItSaysSomethingElseMeanwhile) {
  Bench bench;
  JobId large{};
  const std::string stuck = stuck_one(bench, large);
  bench.submit(a_job().image("x"));
  for (int i = 0; i < 3; ++i) {
    bench.advance(kYieldAfter / 3);
    bench.ask<Done>(WorkerHeldUp{WorkerId(stuck), cat("Unschedulable: ", i, " nodes are available")});
  }
  bench.advance(5s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{stuck});
}

TEST(Yield, OneAtATimeMakesRoomForOneJob) {
  Bench bench;
  add(bench, a_docker().most(2));
  for (int i = 0; i < 2; ++i) bench.submit(a_job().image("x").cores(900));
  ASSERT_EQ(asked(bench).size(), 2u);
  for (const WorkerRecordPtr& one : asked(bench)) bench.ask<Done>(WorkerHeldUp{one->info.id, "Unschedulable"});
  bench.submit(a_job().image("x"));
  bench.advance(kYieldAfter + 30s);
  EXPECT_EQ(destroyed(bench).size(), 1u) << "its place is coming";
}

TEST(Yield, TheJobWhoseWorkerWasWithdrawnIsTriedAgain) {
  Bench bench;
  JobId large{};
  const std::string stuck = stuck_one(bench, large);
  const JobId small = bench.submit(a_job().image("x"));
  bench.advance(kYieldAfter + 5s);
  bench.ask<Done>(WorkerDestroyed{WorkerId(stuck)});
  const std::string next = only_asked(bench);
  Hand worker = arrives_with(bench, next, 1000);
  worker.takes(small).finishes(small);
  bench.advance(20s);
  worker.closes();
  bench.ask<Done>(WorkerDestroyed{WorkerId(next)});
  bench.advance(std::chrono::minutes(3));
  EXPECT_EQ(bench.rows.workers.at(WorkerId(only_asked(bench)))->info.made->for_job, number(large));
}

TEST(Yield, OneForWhosePlaceNobodyWaitsStays) {
  Bench bench;
  JobId large{};
  stuck_one(bench, large);
  bench.submit(a_job().image("x").cores(900));  // another like it would not start either
  bench.advance(kYieldAfter * 3);
  EXPECT_TRUE(destroyed(bench).empty());
}

TEST(Yield, OneOfAFullPoolGivesItsPlaceToTheJobsOfThatPool) {
  Bench bench;
  add(bench, a_docker());
  PoolRow pool;
  pool.name = "p";
  pool.max = 1;
  bench.ask<Done>(PutPool{pool});
  bench.submit(a_job().image("x").pool("p"));
  const std::string stuck = only_asked(bench);
  bench.ask<Done>(WorkerHeldUp{WorkerId(stuck), "ErrImagePull"});
  const JobId other = bench.submit(a_job().image("y").pool("p"));
  bench.advance(kYieldAfter + 5s);
  ASSERT_EQ(destroyed(bench), std::vector<std::string>{stuck});
  bench.ask<Done>(WorkerDestroyed{WorkerId(stuck)});
  arrives(bench, only_asked(bench)).takes(other);
}

TEST(Withdraw, TheWorkerOfACancelledJobGoesBeforeItStarts) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x").cores(900));
  const std::string id = only_asked(bench);
  bench.ask<Done>(WorkerHeldUp{WorkerId(id), "Unschedulable"});
  bench.cancel(job, "");
  bench.advance(5s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
  EXPECT_EQ(bench.engine().modules().provisioning.providers.all().at("docker").failed, 0u)
      << "that is no failure of the provider";
}

TEST(Withdraw, WhatIsMoreThanTheJobsThatWaitGoes) {
  Bench bench;
  add(bench, a_docker());
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(bench.submit(a_job().image("x")));
  ASSERT_EQ(asked(bench).size(), 10u);
  Hand worker = arrives(bench, asked(bench)[0]->info.id.str());
  for (int i = 0; i < 7; ++i) {
    const JobId running = worker.live().executions.begin()->job;
    worker.takes(running).finishes(running);
  }
  ASSERT_EQ(bench.queue().pending, 2);
  bench.advance(5s);
  EXPECT_EQ(asked(bench).size(), 2u) << "one for each job that still waits";
  EXPECT_EQ(destroyed(bench).size(), 7u);
}

TEST(Withdraw, TheOneWhoseOwnJobIsGoneGoesFirst) {
  Bench bench;
  add(bench, a_docker());
  const JobId first = bench.submit(a_job().image("x"));
  const std::string of_first = only_asked(bench);
  bench.advance(1s);
  bench.submit(a_job().image("x"));
  ASSERT_EQ(asked(bench).size(), 2u);
  bench.cancel(first);
  bench.advance(5s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{of_first}) << "though the other is newer";
}

TEST(Withdraw, OneOfWhichSomeSlotsAreNeededStays) {
  Bench bench;
  add(bench, a_docker());
  bench.ask<Done>(PutPool{{.name = "p", .image = "x", .slots = 4}});
  for (int i = 0; i < 5; ++i) bench.submit(a_job().pool("p"));
  ASSERT_EQ(asked(bench).size(), 2u);
  bench.advance(10s);
  EXPECT_TRUE(destroyed(bench).empty());
}

TEST(Withdraw, OneThatWasUnwantedBeforeIsNotTakenSooner) {
  Bench bench;
  add(bench, a_docker());
  const JobId first = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  bench.cancel(first);
  bench.advance(1s);
  const JobId second = bench.submit(a_job().image("x"));
  bench.advance(30s);
  bench.cancel(second);
  bench.advance(1s);
  EXPECT_TRUE(destroyed(bench).empty());
  bench.advance(4s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
}

TEST(Withdraw, OneThatIsWantedAgainInTimeStays) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  bench.cancel(job, "");
  bench.advance(1s);
  bench.submit(a_job().image("x"));
  bench.advance(5s);
  EXPECT_TRUE(destroyed(bench).empty());
  EXPECT_EQ(bench.told<CreateWorker>().size(), 1u);
}

TEST(Withdraw, OneThatRunsAlreadyIsLeftToRegister) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  bench.cancel(job, "");
  bench.advance(5s);
  EXPECT_TRUE(destroyed(bench).empty());
}

TEST(Withdraw, WhatAPoolKeepsIsNotTakenFromIt) {
  Bench bench;
  add(bench, a_docker());
  PoolRow pool;
  pool.name = "p";
  pool.min = 1;
  bench.ask<Done>(PutPool{pool});
  const JobId job = bench.submit(a_job().pool("p"));
  bench.cancel(job, "");
  bench.advance(10s);
  EXPECT_TRUE(destroyed(bench).empty());
}

TEST(Unmakable, AJobWhoseImageDoesNotExistFailsAfterAWhileInTheProvidersWords) {
  Bench bench;
  add(bench, a_docker());
  add(bench, a_provider("process"));
  const JobId job = bench.submit(a_job().image("none"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  bench.advance(std::chrono::minutes(2));
  EXPECT_EQ(bench.state(job), JobState::Pending);
  bench.advance(5s);
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  EXPECT_EQ(bench.state(job), JobState::Pending);
  bench.advance(std::chrono::minutes(3));
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_TRUE(has(bench.job(job).past->reason, "manifest unknown")) << bench.job(job).past->reason;
  EXPECT_EQ(bench.job(job).past->failure, "provisioning_failed");
}

TEST(Unmakable, AJobThatAnotherProviderCanHelpDoesNotFail) {
  Bench bench;
  add(bench, a_docker().preferred(1));
  add(bench, a_provider("other").images().isolating(Isolation::Container).most(1));
  const JobId busy = bench.submit(a_job().image("y").likes_provider("other"));
  arrives(bench, only_asked(bench)).takes(busy);
  const JobId job = bench.submit(a_job().image("none"));
  bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Hopeless, "manifest unknown"});
  bench.advance(std::chrono::minutes(20));
  EXPECT_EQ(bench.state(job), JobState::Pending) << "the other one has no room right now";
}

TEST(Outage, AProviderThatIsBackIsAskedAtOnce) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  for (int i = 0; i < 6; ++i) {
    bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Trouble, "connection refused"});
    for (int s = 0; s < 400 && i < 5 && asked(bench).empty(); ++s) bench.advance(1s);
  }
  EXPECT_TRUE(asked(bench).empty()) << "it is left alone";
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Unhealthy, "connection refused"});
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Healthy, ""});
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST(FirstProvider, IsAskedForWhatWaitedBeforeItCame) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  add(bench, a_provider("p"));
  arrives(bench, only_asked(bench)).takes(job);
}

TEST(End, AJobWhoseWorkerWasEvictedEndsInTheProvidersWords) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(job);
  bench.ask<Done>(WorkerFailed{WorkerId(id), MakingFailure::Trouble, "Evicted: The node was low on resource: memory."});
  bench.worker(id).goes_silent();
  bench.advance(50s);
  EXPECT_EQ(bench.state(job), JobState::Failed);
  EXPECT_TRUE(has(bench.job(job).past->reason, "Evicted: The node was low on resource: memory."))
      << bench.job(job).past->reason;
}

TEST(Abilities, AJobThatAsksForWhatItsProviderCannotDoIsRefused) {
  Bench bench;
  ProviderOrder pods = a_docker();
  pods.facts.lacks = kSandbox;
  add(bench, pods);
  JobOrder order = a_job().image("x");
  order.spec.sandbox = true;
  order.spec.shape.provider = "docker";
  const absl::Status refused = bench.refused(Submit{{order.made()}});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(has(std::string(refused.message()), "sandbox: workers of provider 'docker' cannot do this"));
  order.spec.sandbox = false;
  bench.submit(order);
}

TEST(Abilities, APoolStandsForItsProvider) {
  Bench bench;
  ProviderOrder pods = a_docker();
  pods.facts.lacks = kSandbox;
  add(bench, pods);
  bench.ask<Done>(PutPool{{.name = "p", .provider = "docker", .image = "x"}});
  JobOrder order = a_job().pool("p");
  order.spec.sandbox = true;
  const absl::Status refused = bench.refused(Submit{{order.made()}});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(has(std::string(refused.message()), "sandbox: workers of provider 'docker'")) << refused;
}

}  // namespace
}  // namespace hodei::core::withdraw_test
