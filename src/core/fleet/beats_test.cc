// What workers say of themselves in heartbeats (docs/semantics.md#lease), and what becomes of it.
#include "gmock/gmock.h"
#include "src/core/provision_harness.h"

namespace hodei::core::beats_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Beats : public testing::Test {
 protected:
  // One heartbeat by hand; the bench sends no others for it.
  HeartbeatTaken beat(const std::string& id, std::string unfit, std::vector<ExecutionId> active = {}) {
    bench.worker(id).goes_silent();
    return bench.ask<HeartbeatTaken>(Heartbeat{.worker = WorkerId(id),
                                               .stream = bench.streams.at(id),
                                               .sent_us = bench.now.mono.us,
                                               .unfit = std::move(unfit),
                                               .active = std::move(active)});
  }
  // Its hello says that it lists all that it has.
  void says_what_it_has(const std::string& id, std::vector<HeldExecution> held = {}) {
    const uint64_t stream = ++bench.numbers + 1000;
    bench.ask<StreamOpened>(
        OpenStream{.session = bench.sessions.at(id),
                   .incarnation = parse_incarnation(bench.rows.workers.at(WorkerId(id))->incarnation).id,
                   .stream = stream,
                   .held = std::move(held),
                   .lists_active = true});
    bench.streams[id] = stream;
  }
  std::vector<std::string> words() const {
    std::vector<std::string> out;
    for (const TellWorker& each : bench.told<TellWorker>()) out.push_back(each.words);
    return out;
  }

  Bench bench;
};

TEST_F(Beats, AWorkerThatReportsItselfUnfitGetsNoWork) {
  bench.worker("w1").joins();
  beat("w1", "the disk is full");
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  const Explanation why = bench.explain(job);
  ASSERT_EQ(why.candidates.size(), 1u);
  EXPECT_EQ(why.candidates[0].rule, "fit");
  EXPECT_THAT(why.candidates[0].reason, HasSubstr("the disk is full"));
  EXPECT_THAT(words(), ElementsAre(HasSubstr("the disk is full")));
  const auto views = bench.ask<WorkerViews>(Question(DescribeWorkers{"w1", true}));
  EXPECT_EQ(views.workers[0].unfit, "the disk is full");
  EXPECT_EQ(bench.ask<SystemReport>(Question(DescribeSystem{})).unhealthy, 1);

  beat("w1", "");
  EXPECT_EQ(bench.where(job), "w1") << "what waited is placed with the same heartbeat";
  EXPECT_EQ(words().size(), 2u);
}

TEST_F(Beats, AHelloCanSayItToo) {
  bench.worker("w1").joins();
  bench.ask<Done>(CloseStream{WorkerId("w1"), bench.streams.at("w1")});
  bench.ask<StreamOpened>(
      OpenStream{.session = bench.sessions.at("w1"),
                 .incarnation = parse_incarnation(bench.rows.workers.at(WorkerId("w1"))->incarnation).id,
                 .stream = 777,
                 .unfit = "no gpu"});
  bench.streams["w1"] = 777;
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST_F(Beats, WhatAnUnfitWorkerRunsGoesOn) {
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  worker.takes(job);
  beat("w1", "hot");
  EXPECT_EQ(bench.state(job), JobState::Running);
  worker.finishes(job);
  EXPECT_EQ(bench.state(job), JobState::Succeeded);
}

TEST_F(Beats, AnotherWorkerIsMadeInPlaceOfAnUnfitOne) {
  bench.worker("w1").joins();
  add(bench, a_provider("p"));
  beat("w1", "broken");
  bench.submit(a_job());
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST_F(Beats, AnExecutionThatAWorkerDoesNotListIsSettledByANewHello) {
  bench.worker("w1").joins();
  says_what_it_has("w1");
  const JobId job = bench.submit(a_job());
  ASSERT_EQ(bench.where(job), "w1");
  beat("w1", "");
  bench.advance(29s);
  beat("w1", "");
  EXPECT_TRUE(bench.worker("w1").live().connected) << "orders and heartbeats cross: not at once";
  bench.advance(2s);
  beat("w1", "");
  EXPECT_FALSE(bench.worker("w1").live().connected);
  EXPECT_EQ(bench.state(job), JobState::Scheduled) << "the hello says what became of it";
  says_what_it_has("w1");
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST_F(Beats, OneThatIsListedInTimeIsLeftAlone) {
  bench.worker("w1").joins();
  says_what_it_has("w1");
  const JobId job = bench.submit(a_job());
  beat("w1", "");
  bench.advance(20s);
  beat("w1", "", {bench.current(job)});
  bench.advance(20s);
  beat("w1", "");
  bench.advance(20s);
  beat("w1", "", {bench.current(job)});
  EXPECT_TRUE(bench.worker("w1").live().connected);
  EXPECT_THAT(bench.told<CancelExecution>(), IsEmpty());
}

TEST_F(Beats, AnExecutionThatIsNotTheWorkersIsEnded) {
  bench.worker("w1").joins();
  says_what_it_has("w1");
  const ExecutionId stray{JobId{99}, 1};
  beat("w1", "", {stray});
  EXPECT_THAT(bench.told<CancelExecution>(), IsEmpty()) << "its result may be on its way";
  bench.advance(31s);
  beat("w1", "", {stray});
  ASSERT_EQ(bench.told<CancelExecution>().size(), 1u);
  EXPECT_EQ(bench.told<CancelExecution>()[0].execution, stray);
  EXPECT_THAT(words(), ElementsAre(HasSubstr("stop " + to_string(stray))));
}

TEST_F(Beats, WorkersThatListNothingAreNotCompared) {
  bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  for (int i = 0; i < 10; ++i) {
    bench.advance(9s);
    beat("w1", "");
  }
  EXPECT_TRUE(bench.worker("w1").live().connected);
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
}

TEST_F(Beats, AWorkerWithoutAStreamIsToldWhatToDo) {
  Hand worker = bench.worker("w1").joins(2);
  const JobId job = bench.submit(a_job());
  worker.takes(job);
  bench.cancel(job);
  bench.ask<Drained>(DrainWorker{WorkerId("w1")});
  const ExecutionId stray{JobId{99}, 1};
  const auto taken =
      bench.ask<HeartbeatTaken>(Heartbeat{.worker = WorkerId("w1"), .active = {bench.current(job), stray}});
  EXPECT_THAT(taken.instructions,
              ElementsAre("drain", "cancel " + to_string(bench.current(job)), "stop " + to_string(stray)));
}

TEST_F(Beats, AnUnhealthyProviderThatIsWantedIsTold) {
  ProviderOrder wanted = a_provider("p");
  add(bench, wanted);
  const auto sick = [&] {
    for (int i = 0; i < 2; ++i) bench.ask<Done>(ProviderSeen{"p", wanted.facts, HealthState::Unhealthy, "no socket"});
    return bench.ask<SystemReport>(Question(DescribeSystem{}));
  };
  EXPECT_EQ(bench.ask<SystemReport>(Question(DescribeSystem{})).bad_providers, 0);
  EXPECT_THAT(sick().provider_trouble, HasSubstr("p is unhealthy: no socket"));
  wanted.row.mode = ProviderMode::Disabled;
  bench.ask<ProviderViews>(PutProvider{wanted.row});
  EXPECT_EQ(sick().bad_providers, 0) << "nobody wants it";
  wanted.row.mode = ProviderMode::Enabled;
  wanted.row.guessed = true;
  bench.ask<ProviderViews>(PutProvider{wanted.row});
  EXPECT_EQ(sick().bad_providers, 0) << "it was there by itself";
  bench.ask<Done>(PutPool{{.name = "pool", .provider = "p"}});
  EXPECT_EQ(sick().bad_providers, 1) << "a pool counts on it";
}

TEST_F(Beats, ThatListMoreThanTheirWorkerCanHaveEndItsStream) {
  bench.worker("w1").joins();
  says_what_it_has("w1");
  std::vector<ExecutionId> active;
  for (uint32_t i = 1; i <= 1 + kMaxEndedHeld; ++i) active.push_back({JobId{7}, i});
  beat("w1", "", active);
  EXPECT_TRUE(bench.worker("w1").live().connected);
  active.push_back({JobId{8}, 1});
  const absl::Status why =
      bench.refused(Heartbeat{.worker = WorkerId("w1"), .stream = bench.streams.at("w1"), .active = active});
  EXPECT_TRUE(absl::IsInvalidArgument(why));
  EXPECT_FALSE(bench.worker("w1").live().connected);
  EXPECT_THAT(bench.told<DropStream>().back().reason,
              HasSubstr("heartbeat.active: lists 4098 executions; a worker with 1 slot has at most 4097"));
}

}  // namespace
}  // namespace hodei::core::beats_test
