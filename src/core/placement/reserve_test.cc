// A large job gets its turn although small ones would take every bit of room before it adds up.
#include <random>

#include "src/core/engine_harness.h"

namespace hodei::core::reserve_test {
namespace {

// Small jobs without end: every second some end and as many come.
class Flood {
 public:
  Flood(Bench& bench, uint64_t seed) : bench_(bench), random_(seed) {}

  void keep_full(size_t waiting) {
    while (static_cast<size_t>(bench_.queue().pending) < waiting) small_.push_back(bench_.submit(a_job().cores(1)));
  }

  void pass(Duration time) {
    for (Duration t{0}; t < time; t += 1s) {
      bench_.advance(1s);
      end_some();
      keep_full(20);
    }
  }

 private:
  void end_some() {
    std::vector<JobId> left;
    for (const JobId job : small_) {
      if (bench_.state(job) == JobState::Scheduled) bench_.worker(bench_.where(job)).starts(job);
      if (bench_.state(job) == JobState::Running && random_() % 5 == 0) bench_.worker(bench_.where(job)).finishes(job);
      if (!is_terminal(bench_.state(job))) left.push_back(job);
    }
    small_ = std::move(left);
  }

  Bench& bench_;
  std::mt19937_64 random_;
  std::vector<JobId> small_;
};

ConfigureScheduler after(Duration time) { return {.reserve_after = time}; }

TEST(Reservation, StartsALargeJobWithinABoundedWaitUnderAFloodOfSmallOnes) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    Bench bench;
    bench.checks = seed == 1;
    bench.worker("a").joins(a_worker().slots(32).cores(8));
    bench.worker("b").joins(a_worker().slots(32).cores(8));
    Flood flood(bench, seed);
    flood.keep_full(20);
    const JobId large = bench.submit(a_job().cores(8));
    flood.pass(30s);
    EXPECT_EQ(bench.state(large), JobState::Pending) << "without a reservation there is never room";
    // Its worker takes nothing new from then on: the wait is that for the jobs which run there, each ends within a
    // minute or so.
    for (int i = 0; i < 90 && bench.state(large) == JobState::Pending; ++i) flood.pass(1s);
    EXPECT_EQ(bench.state(large), JobState::Scheduled);
  }
}

TEST(Reservation, CanBeSwitchedOff) {
  Bench bench;
  bench.checks = false;
  bench.ask<SchedulerConfig>(after(0s));
  bench.worker("a").joins(a_worker().slots(32).cores(8));
  Flood flood(bench, 1);
  flood.keep_full(20);
  const JobId large = bench.submit(a_job().cores(8));
  flood.pass(180s);
  EXPECT_EQ(bench.state(large), JobState::Pending);
}

// Four of four cores are taken by jobs of one core, and a job of all four has waited longer than it must.
struct FullWorker {
  FullWorker() {
    bench.worker("a").joins(a_worker().slots(8).cores(4));
    for (int i = 0; i < 4; ++i) small.push_back(bench.submit(a_job().cores(1)));
    for (const JobId job : small) bench.worker("a").takes(job);
    large = bench.submit(a_job().cores(4));
    bench.advance(35s);
  }
  Bench bench;
  std::vector<JobId> small;
  JobId large{};
};

TEST(Reservation, KeepsTheWorkerFromTheSameAndLowerClasses) {
  FullWorker at;
  const JobId equal = at.bench.submit(a_job().cores(1));
  const JobId lower = at.bench.submit(a_job().cores(1).priority(Priority::Low));
  at.bench.worker("a").finishes(at.small[0]);
  EXPECT_EQ(at.bench.state(equal), JobState::Pending);
  EXPECT_EQ(at.bench.state(lower), JobState::Pending);
  EXPECT_EQ(at.bench.explain(equal).candidates.at(0).rule, "reserved");
  const JobId urgent = at.bench.submit(a_job().cores(1).priority(Priority::High));
  EXPECT_EQ(at.bench.state(urgent), JobState::Scheduled) << "classes stay strict";
}

TEST(Reservation, IsToldInWords) {
  FullWorker at;
  const Explanation why = at.bench.explain(at.large);
  EXPECT_TRUE(why.waiting_for.starts_with("worker a has been reserved for it for ")) << why.waiting_for;
  EXPECT_TRUE(why.waiting_for.ends_with("is still running 4 executions")) << why.waiting_for;
}

TEST(Reservation, EndsWithItsJobAndLetsTheOthersIn) {
  FullWorker at;
  const JobId other = at.bench.submit(a_job().cores(1));
  at.bench.worker("a").finishes(at.small[0]);
  ASSERT_EQ(at.bench.state(other), JobState::Pending);
  at.bench.cancel(at.large);
  EXPECT_EQ(at.bench.state(other), JobState::Scheduled);
}

TEST(Reservation, EndsWhenTheJobFindsAnotherWorker) {
  FullWorker at;
  const JobId other = at.bench.submit(a_job().cores(1).wants({"disk", LabelOperator::DoesNotExist, {}}));
  at.bench.worker("a").finishes(at.small[0]);
  ASSERT_EQ(at.bench.state(other), JobState::Pending);
  at.bench.worker("b").joins(a_worker().cores(4).label("disk", "ssd"));
  EXPECT_EQ(at.bench.where(at.large), "b");
  EXPECT_EQ(at.bench.where(other), "a");
}

TEST(Reservation, IsFoundOutAnewAfterARestart) {
  FullWorker at;
  at.bench.restart();
  std::vector<HeldExecution> held;
  for (const JobId job : at.small) held.push_back({at.bench.current(job), true, false});
  at.bench.worker("a").returns(held);
  EXPECT_EQ(at.bench.worker("a").live().reserved.priority, 0);
  at.bench.advance(35s);
  EXPECT_NE(at.bench.worker("a").live().reserved.priority, 0);
}

TEST(Reservation, IsGivenUpForAnotherWorkerThatMayGetFreeSooner) {
  FullWorker at;
  at.bench.worker("b").joins(a_worker().slots(8).cores(4).label("kind", "b"));
  EXPECT_EQ(at.bench.where(at.large), "b");
  // Both are full of small jobs now, and another large one waits.
  at.bench.worker("b").takes(at.large).finishes(at.large);
  std::vector<JobId> small;
  for (int i = 0; i < 4; ++i) small.push_back(at.bench.submit(a_job().cores(1)));
  for (const JobId job : small) at.bench.worker("b").takes(job);
  const JobId large = at.bench.submit(a_job().cores(4));
  at.bench.advance(35s);
  EXPECT_NE(at.bench.worker("a").live().reserved.priority, 0);
  at.bench.advance(310s);
  EXPECT_EQ(at.bench.worker("a").live().reserved.priority, 0);
  EXPECT_NE(at.bench.worker("b").live().reserved.priority, 0);
  EXPECT_EQ(at.bench.state(large), JobState::Pending);
}

TEST(Reservation, IsNotMadeWhereTheEndOfAnyOneJobMakesRoom) {
  Bench bench;
  bench.worker("a").joins(1);
  const JobId first = bench.submit(a_job());
  bench.worker("a").takes(first);
  bench.submit(a_job().memory(100));
  bench.advance(120s);
  EXPECT_EQ(bench.worker("a").live().reserved.priority, 0) << "shares of tenants decide who is next, not age";
}

TEST(Reservation, IsMadeForAFewOnly) {
  Bench bench;
  bench.checks = false;
  for (int i = 0; i < 20; ++i) {
    const std::string id = cat("w", i);
    bench.worker(id).joins(a_worker().slots(8).cores(2));
    for (int n = 0; n < 2; ++n) bench.worker(id).takes(bench.submit(a_job().cores(1)));
  }
  for (int i = 0; i < 20; ++i) bench.submit(a_job().cores(2).memory(i + 1));
  bench.advance(60s);
  size_t kept = 0;
  for (const auto& [id, worker] : bench.engine().modules().fleet.workers.all()) kept += worker->reserved.priority != 0;
  EXPECT_EQ(kept, Reservations::kMaxStarving);
}

}  // namespace
}  // namespace hodei::core::reserve_test
