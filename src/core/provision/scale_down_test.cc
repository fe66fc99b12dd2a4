// Workers that nobody needs go, busy ones never; pools keep what they are told to.
#include "src/core/provision_harness.h"

namespace hodei::core::scale_down_test {
namespace {

PoolRow a_pool(std::string name) {
  PoolRow row;
  row.name = std::move(name);
  return row;
}

size_t workers_of(const Bench& bench, const std::string& pool) {
  size_t n = 0;
  for (const auto& [id, record] : bench.rows.workers) n += record->info.made && record->info.made->pool == pool;
  return n;
}

TEST(ScaleDown, AnIdleWorkerIsToldToGoAndDestroyedWhenItWent) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  Hand worker = arrives(bench, id);
  worker.takes(job);
  bench.advance(60s);
  EXPECT_TRUE(destroyed(bench).empty()) << "a busy worker is never touched";
  worker.finishes(job);
  bench.advance(9s);
  EXPECT_TRUE(bench.told<TellDrain>().empty());
  bench.advance(3s);
  EXPECT_EQ(bench.told<TellDrain>().size(), 1u);
  EXPECT_TRUE(destroyed(bench).empty()) << "it may have output to send";
  worker.closes();
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
  EXPECT_TRUE(exists(bench, id));
  bench.ask<Done>(WorkerDestroyed{WorkerId(id)});
  EXPECT_FALSE(exists(bench, id));
}

TEST(ScaleDown, OneThatDoesNotGoIsDestroyedAnyway) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(job).finishes(job);
  bench.advance(45s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
}

TEST(ScaleDown, ADrainingWorkerGetsNoNewWork) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(job).finishes(job);
  bench.advance(12s);
  const JobId late = bench.submit(a_job().image("x"));
  EXPECT_EQ(bench.state(late), JobState::Pending);
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST(ScaleDown, ASilentWorkerIsDestroyedWhenItsLeaseIsOver) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().image("x").attempts(2));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(job).goes_silent();
  bench.advance(44s);
  EXPECT_TRUE(destroyed(bench).empty());
  bench.advance(4s);
  EXPECT_EQ(destroyed(bench), std::vector<std::string>{id});
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(ScaleDown, APoolKeepsItsMinimumAndItsSpareOnes) {
  Bench bench;
  add(bench, a_docker());
  PoolRow pool = a_pool("p");
  pool.min = 1;
  pool.spare = 2;
  pool.image = "x";
  bench.ask<Done>(PutPool{pool});
  bench.advance(2s);
  ASSERT_EQ(asked(bench).size(), 2u);
  for (const WorkerRecordPtr& record : asked(bench)) arrives(bench, record->info.id.str());
  bench.advance(60s);
  EXPECT_EQ(workers_of(bench, "p"), 2u);
  EXPECT_TRUE(destroyed(bench).empty());
  bench.submit(a_job().pool("p"));
  bench.advance(2s);
  EXPECT_EQ(asked(bench).size(), 1u) << "one of the spare ones is busy now";
}

TEST(ScaleDown, WhatComesForAJobIsNotASpareOne) {
  Bench bench;
  add(bench, a_docker());
  PoolRow pool = a_pool("p");
  pool.spare = 1;
  pool.image = "x";
  bench.ask<Done>(PutPool{pool});
  for (int i = 0; i < 2; ++i) bench.submit(a_job().pool("p"));
  ASSERT_EQ(asked(bench).size(), 2u);
  bench.advance(2s);
  EXPECT_EQ(asked(bench).size(), 3u);
}

TEST(ScaleDown, APoolNeverHasMoreThanItsMaximum) {
  Bench bench;
  add(bench, a_docker());
  PoolRow pool = a_pool("p");
  pool.max = 2;
  bench.ask<Done>(PutPool{pool});
  JobId last{};
  for (int i = 0; i < 5; ++i) last = bench.submit(a_job().pool("p"));
  bench.advance(5s);
  EXPECT_EQ(asked(bench).size(), 2u);
  EXPECT_EQ(bench.explain(last).providers.at(0).reason, "pool 'p' is at its limit of 2 workers");
}

TEST(ScaleDown, AOneJobWorkerGoesAfterItsJobThoughMoreWaits) {
  Bench bench;
  add(bench, a_docker());
  PoolRow pool = a_pool("p");
  pool.one_job = true;
  pool.max = 1;
  bench.ask<Done>(PutPool{pool});
  const JobId first = bench.submit(a_job().pool("p"));
  const JobId second = bench.submit(a_job().pool("p"));
  const std::string id = only_asked(bench);
  Hand worker = arrives(bench, id);
  worker.takes(first).finishes(first);
  EXPECT_EQ(bench.state(second), JobState::Pending);
  worker.closes();
  bench.ask<Done>(WorkerDestroyed{WorkerId(id)});
  const std::string next = only_asked(bench);
  EXPECT_NE(next, id);
  arrives(bench, next).takes(second);
}

TEST(ScaleDown, IdleWorkersOfADisabledProviderGoAtOnce) {
  Bench bench;
  ProviderOrder order = a_docker();
  add(bench, order);
  const JobId job = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(job).finishes(job);
  order.row.mode = ProviderMode::Disabled;
  bench.ask<ProviderViews>(PutProvider{order.row});
  bench.advance(2s);
  EXPECT_EQ(bench.told<TellDrain>().size(), 1u);
}

TEST(ScaleDown, AJobForAPoolThatNobodySetUpIsExplained) {
  Bench bench;
  add(bench, a_docker());
  const JobId job = bench.submit(a_job().pool("nowhere"));
  EXPECT_TRUE(asked(bench).empty());
  EXPECT_NE(bench.explain(job).providers.at(0).reason.find("hodei pool set nowhere"), std::string::npos);
}

}  // namespace
}  // namespace hodei::core::scale_down_test
