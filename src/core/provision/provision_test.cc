// Workers on demand: when one is made, by whom, for whom, and what happens when it does not come.
#include "src/core/provision_harness.h"

namespace hodei::core::provision_test {
namespace {

TEST(Provision, MakesAWorkerForAJobThatFitsNowhereAndGivesItTheJob) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("debian"));
  const std::string id = only_asked(bench);
  EXPECT_EQ(bench.rows.workers.at(WorkerId(id))->info.image, "debian");
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_NE(bench.job(job).past->reason.find("provisioning"), std::string::npos);
  EXPECT_NE(bench.explain(job).provisioning.find(id), std::string::npos);
  arrives(bench, id).takes(job).finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST(Provision, APreviewNamesTheProviderThatWouldMakeAWorker) {
  Bench bench;
  add(bench, a_docker());
  const Explanation would = bench.ask<Explanation>(Question{PreviewJob{a_job().image("x").made().head.shape}});
  EXPECT_FALSE(would.decision.has_value());
  EXPECT_EQ(would.waiting_for, "provider docker is going to create a worker for it");
  EXPECT_TRUE(bench.told<CreateWorker>().empty());
}

TEST(Provision, TakesNobodysId) {
  Bench bench;
  add(bench, a_docker());
  // The id that the next worker would get.
  const std::string taken =
      cat("docker-", short_id(JobId{bench.engine().modules().jobs.table.next_number() + 1}).substr(1));
  bench.worker(taken).joins();
  const JobId mine = bench.submit(a_job());
  bench.worker(taken).takes(mine);
  const JobId job = bench.submit(a_job().image("x"));
  const std::string made = only_asked(bench);
  EXPECT_NE(made, taken);
  EXPECT_EQ(bench.state(mine), JobState::Running);
  arrives(bench, made).takes(job);
}

TEST(Provision, MakesNothingWhereAStandingWorkerWillHaveRoom) {
  Bench bench;
  add(bench, a_docker());
  bench.worker("w1").joins(1);
  const JobId running = bench.submit(a_job());
  const JobId waiting = bench.submit(a_job());
  EXPECT_EQ(bench.state(waiting), JobState::Pending);
  bench.advance(5s);
  EXPECT_TRUE(asked(bench).empty());
  bench.worker("w1").takes(running).goes_silent();
  bench.advance(40s);  // unhealthy: nobody knows when it will have room
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST(Provision, AWorkerThatWasStoppedWithTheServerIsWaitedForWhenBothAreBack) {
  Bench bench;
  bench.worker("dev").joins(1).stops().closes();
  bench.submit(a_job());
  bench.restart();
  add(bench, a_docker());
  bench.advance(3s);
  EXPECT_TRUE(asked(bench).empty()) << "it is about to come back";
  bench.advance(5s);
  EXPECT_EQ(asked(bench).size(), 1u) << "it does not";
}

TEST(Placement, DoesNotCountWorkersThatHaveLeft) {
  Bench bench;
  bench.worker("gone").joins(1);
  bench.ask<Done>(UnregisterWorker{WorkerId("gone"), ""});
  bench.worker("w1").joins(1);
  const JobId job = bench.submit(a_job());
  ASSERT_TRUE(bench.explain(job).decision);
  EXPECT_EQ(bench.explain(job).decision->considered, 1u);
  EXPECT_TRUE(bench.explain(job).decision->rejected.empty());
}

TEST(Provision, AJobThatAsksForNoSizeGetsTheUsualOneOfTheProviderNotAllOfItsMachine) {
  Bench bench;
  ProviderOrder vm = a_vm();
  vm.facts.largest = {32'000, 24'000, 0, 0};
  vm.facts.usual = {1'000, 352, 0, 0};
  add(bench, vm);
  JobOrder order = a_job();
  order.spec.cpu_milli = 0;
  order.spec.memory_mb = 0;
  bench.submit(order);
  ASSERT_EQ(asked(bench).size(), 1u);
  EXPECT_EQ(asked(bench)[0]->info.capacity.cpu_milli, 1'000);
  EXPECT_EQ(asked(bench)[0]->info.capacity.memory_mb, 352);
}

TEST(Provision, AJobThatNamesItsProviderDoesNotWaitForAStandingWorker) {
  Bench bench;
  add(bench, a_docker());
  bench.worker("w1").joins(1);
  JobOrder order = a_job();
  order.spec.shape.provider = "docker";
  bench.submit(order);
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST(Provision, AJobForWhichOthersArePutBackGetsAWorkerWhenThatRoomIsNoLongerForIt) {
  Bench bench;
  add(bench, a_docker());
  bench.ask<SchedulerConfig>(ConfigureScheduler{.preemption = true});
  JobOrder order = a_job().priority(Priority::Low);
  order.spec.shape.provider = "docker";
  const JobId poor = bench.submit(order);
  const std::string first = only_asked(bench);
  arrives(bench, first).takes(poor);
  const JobId rich = bench.submit(order.priority(Priority::High));
  bench.advance(5s);
  EXPECT_TRUE(asked(bench).empty()) << "room is being made for it";
  bench.ask<WorkerViews>(TaintWorker{WorkerId(first), {{"broken", "", TaintEffect::NoSchedule}}});
  bench.advance(5s);
  arrives(bench, only_asked(bench)).takes(rich).finishes(rich);
  EXPECT_EQ(bench.state(rich), JobState::Succeeded);
}

TEST(Provision, MakesAsManyAsThereAreJobsAndNeverMoreThanTheProviderMayHave) {
  Bench bench;
  add(bench, a_docker().most(3));
  std::vector<JobId> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(bench.submit(a_job().image("x")));
  EXPECT_EQ(asked(bench).size(), 3u);
  std::set<std::string> names;
  for (const WorkerRecordPtr& record : asked(bench)) names.insert(record->info.id.str());
  for (const std::string& id : names) arrives(bench, id);
  for (int round = 0; round < 4; ++round) {
    for (const std::string& id : names) {
      const auto executions = bench.worker(id).live().executions;
      if (!executions.empty()) bench.worker(id).takes(executions.begin()->job).finishes(executions.begin()->job);
    }
  }
  for (const JobId job : jobs) EXPECT_EQ(bench.state(job), JobState::Succeeded);
  EXPECT_EQ(bench.told<CreateWorker>().size(), 3u);
}

TEST(Provision, MakesNoMoreThanKeysAndQuotasLetStart) {
  Bench bench;
  add(bench, a_docker());
  for (int i = 0; i < 5; ++i) bench.submit(a_job().image("x").key("k", 2));
  EXPECT_EQ(asked(bench).size(), 2u);
  SetTenant quota;
  quota.ns = "small";
  quota.max_running = 1;
  ASSERT_TRUE(bench.decide(quota).ok());
  for (int i = 0; i < 5; ++i) bench.submit(a_job().image("y").in("small"));
  EXPECT_EQ(asked(bench).size(), 3u);
}

TEST(Provision, MakesAWorkerForATenantThatIsUnderItsQuotaAgain) {
  Bench bench;
  add(bench, a_docker());
  SetTenant quota;
  quota.ns = "small";
  quota.max_running = 1;
  ASSERT_TRUE(bench.decide(quota).ok());
  const JobId first = bench.submit(a_job().image("x").in("small"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(first);
  const JobId second = bench.submit(a_job().image("y").in("small"));
  EXPECT_EQ(asked(bench).size(), 0u) << "it could not start there";
  bench.worker(id).finishes(first);
  arrives(bench, only_asked(bench)).takes(second);
}

TEST(Provision, TheJobItWasMadeForHasTheFirstClaim) {
  Bench bench;
  add(bench, a_docker().most(1));
  const JobId first = bench.submit(a_job().image("x"));
  const JobId urgent = bench.submit(a_job().image("x").priority(Priority::Critical));
  arrives(bench, only_asked(bench)).takes(first);
  EXPECT_EQ(bench.state(urgent), JobState::Pending);
}

TEST(Provision, AWorkerThatDoesNotRegisterIsDestroyedAndAnotherProviderIsTried) {
  Bench bench;
  add(bench, a_docker().preferred(1));
  add(bench, a_provider("other").images().isolating(Isolation::Container));
  const JobId job = bench.submit(a_job().image("x"));
  const std::string first = only_asked(bench);
  EXPECT_TRUE(first.starts_with("docker-"));
  bench.ask<Done>(WorkerMade{WorkerId(first), "h"});
  bench.ask<Done>(WorkerRuns{WorkerId(first)});
  bench.advance(59s);
  EXPECT_TRUE(destroyed(bench).empty());
  bench.advance(3s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{first});
  const std::string second = only_asked(bench);
  EXPECT_TRUE(second.starts_with("other-")) << second;
  bench.ask<Done>(WorkerDestroyed{WorkerId(first)});
  EXPECT_FALSE(exists(bench, first));
  arrives(bench, second).takes(job);
}

TEST(Provision, TheOnlyProviderIsAskedAgainAfterATroubleOfItsOwn) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string first = only_asked(bench);
  bench.ask<Done>(WorkerFailed{WorkerId(first), MakingFailure::Trouble, "it died"});
  EXPECT_TRUE(asked(bench).empty());
  EXPECT_NE(bench.explain(job).providers.at(0).reason.find("it died"), std::string::npos);
  bench.advance(3s);
  arrives(bench, only_asked(bench)).takes(job);
}

TEST(Provision, AProviderThatRefusesAShapeIsPassedOverForItAndSaysWhy) {
  Bench bench;
  add(bench, a_docker().preferred(1));
  add(bench, a_provider("other").images().isolating(Isolation::Container));
  const JobId job = bench.submit(a_job().image("none"));
  const std::string first = only_asked(bench);
  bench.ask<Done>(WorkerFailed{WorkerId(first), MakingFailure::Shape, "no such image"});
  EXPECT_TRUE(only_asked(bench).starts_with("other-"));
  const Explanation why = bench.explain(job);
  ASSERT_EQ(why.providers.size(), 2u);
  EXPECT_NE(why.providers[0].reason.find("no such image"), std::string::npos);
  // Other shapes are none of its refusal's business.
  bench.submit(a_job().image("good"));
  EXPECT_TRUE(asked(bench).back()->info.id.str().starts_with("docker-"));
}

TEST(Provision, AFailingProviderIsLeftAloneForLongerAndLonger) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  std::vector<Duration> gaps;
  for (int i = 0; i < 5; ++i) {
    bench.ask<Done>(WorkerFailed{WorkerId(only_asked(bench)), MakingFailure::Trouble, "engine is down"});
    const MonoTime failed = bench.now.mono;
    for (int s = 0; s < 400 && asked(bench).empty(); ++s) bench.advance(1s);
    gaps.push_back(bench.now.mono - failed);
  }
  for (size_t i = 1; i < gaps.size(); ++i) EXPECT_GT(gaps[i], gaps[i - 1]) << i;
}

TEST(Provision, AfterARestartWhatWasBeingMadeIsDestroyedAndMadeAgain) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string lost = only_asked(bench);
  bench.restart();
  bench.advance(1s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{lost});
  EXPECT_TRUE(asked(bench).empty()) << "its provider has not been seen yet";
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Healthy, ""});
  const std::string fresh = only_asked(bench);
  EXPECT_NE(fresh, lost);
  // The old one may not come any more, should it exist after all.
  bench.ask<OtpMade>(MakeOtp{hash128("late"), WorkerId(lost)});
  WorkerOrder order = a_worker();
  order.info.id = WorkerId(lost);
  EXPECT_EQ(bench.refused(RegisterWorker{hash128("late"), {}, hash128("s"), order.info, "i"}).code(),
            absl::StatusCode::kUnauthenticated);
  arrives(bench, fresh).takes(job);
}

TEST(Provision, AfterARestartAWorkerThatRunsMayStillRegister) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  bench.ask<Done>(WorkerMade{WorkerId(id), "h"});
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  bench.restart();
  bench.advance(2s);
  WorkerOrder order;
  order.info = bench.rows.workers.at(WorkerId(id))->info;
  bench.worker(id).joins(order).takes(job);
  EXPECT_TRUE(destroyed(bench).empty());
}

TEST(Provision, OrphansAreDestroyedAndKnownWorkersAreNot) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  const std::string known = only_asked(bench);
  bench.ask<Done>(Inventory{"docker", {{WorkerId(known), "h1"}, {WorkerId("docker-zz"), "h2"}}});
  ASSERT_EQ(destroyed(bench), std::vector<std::string>{"docker-zz"});
  EXPECT_EQ(bench.told<DestroyWorker>()[0].handle, "h2");
}

TEST(Provision, JobsOfADestroyedWorkerAreRequeuedWhenItsLeaseProvesThemDead) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x").attempts(2));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(job);
  bench.ask<Done>(WorkerFailed{WorkerId(id), MakingFailure::Trouble, "ended"});
  EXPECT_EQ(bench.state(job), JobState::Running) << "nothing proves yet that it is dead";
  bench.ask<Done>(WorkerDestroyed{WorkerId(id)});
  bench.worker(id).goes_silent();
  EXPECT_EQ(bench.state(job), JobState::Running) << "a provider may be wrong";
  bench.advance(50s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_FALSE(exists(bench, id));
}

TEST(Provision, ProvidersThatAreDisabledUnhealthyOrInMaintenanceGetNoNewWorkers) {
  for (const ProviderMode mode : {ProviderMode::Maintenance, ProviderMode::Disabled}) {
    Bench bench;
    ProviderOrder order = a_docker();
    add(bench, order);
    order.row.mode = mode;
    bench.ask<ProviderViews>(PutProvider{order.row});
    bench.submit(a_job().image("x"));
    EXPECT_TRUE(asked(bench).empty());
  }
  Bench bench;
  add(bench, a_docker());
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Unhealthy, "down"});
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Unhealthy, "down"});
  const JobId job = bench.submit(a_job().image("x"));
  EXPECT_TRUE(asked(bench).empty());
  EXPECT_EQ(bench.explain(job).providers.at(0).reason, "is unhealthy: down");
  bench.ask<Done>(ProviderSeen{"docker", a_docker().facts, HealthState::Healthy, ""});
  EXPECT_EQ(asked(bench).size(), 1u);
}

struct Chosen {
  const char* why;
  JobOrder order;
  std::string provider;
};

TEST(Provision, ChoosesTheProviderThatSuitsTheJob) {
  JobOrder hardware = a_job(), gpu = a_job(), named = a_job();
  hardware.spec.shape.isolation = Isolation::Hardware;
  gpu.spec.shape.needs.gpus = 1;
  named.spec.shape.provider = "vm";
  const Chosen cases[] = {
      {"hardware isolation", hardware, "vm"},
      {"an image, and no more isolation than it needs", a_job().image("x"), "docker"},
      {"a gpu", gpu, "gpus"},
      {"neither: the least isolation", a_job(), "process"},
      {"what it names", named, "vm"},
      {"what it prefers", a_job().likes_provider("docker"), "docker"},
  };
  for (const Chosen& c : cases) {
    Bench bench;
    add(bench, a_docker());
    add(bench, a_vm());
    add(bench, a_provider("process"));
    add(bench, a_provider("gpus").gpu().isolating(Isolation::Container).starting_in(10s));
    bench.submit(c.order);
    EXPECT_TRUE(only_asked(bench).starts_with(c.provider + "-")) << c.why << ": " << only_asked(bench);
  }
}

TEST(Provision, ALargerJobThanAnyProviderMakesIsExplained) {
  Bench bench;
  ProviderOrder small = a_docker();
  small.facts.largest = {2000, 1024, 0, 0};
  add(bench, small);
  const JobId job = bench.submit(a_job().cores(4));
  EXPECT_TRUE(asked(bench).empty());
  EXPECT_EQ(bench.explain(job).providers.at(0).reason, "creates workers with at most 2 cores, but 4 are needed");
}

TEST(Provision, AWorkerThatRegistersAndOpensNoStreamIsGivenUpAtItsDeadline) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  RegisterWorker c;
  c.otp = hash128("t");
  c.new_session = hash128("s");
  c.info = bench.rows.workers.at(WorkerId(id))->info;
  c.incarnation = "i1";
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId(id)});
  bench.ask<Registered>(c);  // before its provider says that it runs
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  bench.advance(59s);
  EXPECT_TRUE(destroyed(bench).empty());
  bench.advance(2s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
}

TEST(Provision, TheTokenOfAWorkerThatIsBeingMadeLivesFromWhenItRuns) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  const WorkerId id(only_asked(bench));
  bench.ask<OtpMade>(MakeOtp{hash128("t"), id});
  const auto left = [&] { return bench.rows.otps.at(hash128("t")).expires - bench.now.wall; };
  EXPECT_GE(left(), Duration(std::chrono::minutes(15))) << "an image may take its ten minutes";
  bench.advance(std::chrono::minutes(8));
  bench.ask<Done>(WorkerRuns{id});
  EXPECT_EQ(left(), Duration(std::chrono::minutes(5)));
}

TEST(Provision, TheEndOfAWorkerStaysVisibleWithItsReason) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  bench.ask<Done>(WorkerFailed{WorkerId(id), MakingFailure::Trouble, "no such registry"});
  bench.ask<Done>(WorkerDestroyed{WorkerId(id)});
  const auto view = bench.ask<WorkerViews>(Question(DescribeWorkers{id, true})).workers.at(0);
  EXPECT_EQ(view.state, WorkerState::Terminated);
  EXPECT_EQ(view.record->info.end_reason, "no such registry");
  EXPECT_EQ(view.record->info.ended, bench.now.wall);
  bench.restart();
  EXPECT_EQ(bench.ask<WorkerViews>(Question(DescribeWorkers{id, true})).workers.size(), 1u);
  EXPECT_EQ(bench.ask<ProviderViews>(Question(DescribeProviders{"docker"})).providers[0].provider.workers,
            static_cast<uint32_t>(asked(bench).size()));
  // Should the provider find something of it after all, that goes.
  bench.effects.clear();
  bench.ask<Done>(Inventory{"docker", {{WorkerId(id), "h"}}});
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
  bench.advance(std::chrono::hours(2));
  EXPECT_FALSE(bench.rows.workers.contains(WorkerId(id)));
}

TEST(Provision, OnlySoManyEndsAreKept) {
  Bench bench;
  bench.checks = false;
  add(bench, a_docker());
  bench.ask<Done>(PutPool{{.name = "p", .image = "x", .min = 1}});
  std::vector<std::string> ids;
  for (size_t n = 0; n < kMaxEndedWorkers + 5; ++n) {
    for (int tries = 0; asked(bench).empty() && tries < 400; ++tries) bench.advance(1s);
    ids.push_back(only_asked(bench));
    bench.ask<Done>(WorkerFailed{WorkerId(ids.back()), MakingFailure::Room, "full"});
    bench.ask<Done>(WorkerDestroyed{WorkerId(ids.back())});
    bench.effects.clear();
  }
  EXPECT_FALSE(bench.rows.workers.contains(WorkerId(ids.front())));
  EXPECT_TRUE(bench.rows.workers.contains(WorkerId(ids.back())));
  EXPECT_LE(bench.rows.workers.size(), kMaxEndedWorkers + 2);
}

TEST(Provision, AnExecutionNamesWhatItsProviderCallsIt) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id);
  ASSERT_EQ(bench.where(job), id);
  EXPECT_EQ(bench.job(job).past->executions.back().provider_ref, "handle of " + id);
  bench.restart();
  EXPECT_EQ(bench.job(job).past->executions.back().provider_ref, "handle of " + id);
}

TEST(Provision, WithAsManyJobsAsItMayRunAProviderGetsNoNewWorkers) {
  Bench bench;
  ProviderOrder docker = a_docker();
  docker.row.max_jobs = 2;
  add(bench, docker);
  for (int i = 0; i < 3; ++i) bench.submit(a_job().image("x"));
  const auto coming = asked(bench);
  ASSERT_EQ(coming.size(), 2u) << "a worker for the third would be one too many";
  for (const WorkerRecordPtr& one : coming) arrives(bench, one->info.id.str());
  const auto seen = [&] { return bench.ask<ProviderViews>(Question(DescribeProviders{"docker"})).providers[0]; };
  EXPECT_EQ(seen().provider.jobs, 2u);
  EXPECT_EQ(seen().state, ProviderState::Overloaded);
  EXPECT_TRUE(asked(bench).empty());
  bench.restart();
  EXPECT_EQ(bench.ask<ProviderViews>(Question(DescribeProviders{"docker"})).providers[0].provider.jobs, 2u);
}

TEST(Provision, AProviderThatMakesNoWorkersStandsForThoseThatNameIt) {
  Bench bench;
  ProviderOrder metal = a_provider("rack");
  metal.facts.makes_workers = false;
  add(bench, metal);
  JobOrder order = a_job();
  order.spec.shape.provider = "rack";
  const JobId job = bench.submit(order);
  EXPECT_TRUE(asked(bench).empty());
  EXPECT_NE(bench.explain(job).providers.at(0).reason.find("HODEI_WORKER_PROVIDER=rack"), std::string::npos);
  bench.worker("w1").joins(a_worker().provider("rack"));
  EXPECT_EQ(bench.where(job), "w1");
  const auto view = bench.ask<ProviderViews>(Question(DescribeProviders{"rack"})).providers[0];
  EXPECT_EQ(view.workers, std::vector<WorkerId>{WorkerId("w1")});
  EXPECT_EQ(view.provider.jobs, 1u);
}

TEST(Provision, AProviderWithWorkersCannotBeRemoved) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().image("x"));
  EXPECT_EQ(bench.refused(DropProvider{"docker"}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(bench.refused(DropProvider{"none"}).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace hodei::core::provision_test
