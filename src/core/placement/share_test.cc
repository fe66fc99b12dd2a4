// Fair share: within a class, waiting work rotates over tenants by weight.
#include <numeric>
#include <random>

#include "src/core/engine_harness.h"

namespace hodei::core::share_test {
namespace {

TenantView set_tenant(Bench& bench, SetTenant command) { return bench.ask<TenantViews>(command).tenants.at(0); }

// The tenants of the jobs on `worker`'s only slot, one after another.
std::string served(Bench& bench, const std::string& worker, int jobs) {
  std::string out;
  for (int i = 0; i < jobs; ++i) {
    const auto& executions = bench.worker(worker).live().executions;
    if (executions.empty()) break;
    const JobId job = executions.begin()->job;
    out += bench.job(job).ns.str();
    bench.worker(worker).takes(job).finishes(job);
  }
  return out;
}

void submit(Bench& bench, const std::string& ns, int jobs, JobOrder order = a_job()) {
  for (int i = 0; i < jobs; ++i) bench.submit(order.in(ns));
}

TEST(Share, RotatesOverTenantsOfTheSameWeight) {
  Bench bench;
  bench.worker("w1").joins(1);
  submit(bench, "a", 4);
  submit(bench, "b", 2);
  submit(bench, "c", 2);
  EXPECT_EQ(served(bench, "w1", 8), "abcabcaa");
}

TEST(Share, GivesATenantOfThreeTimesTheWeightThreeTurns) {
  Bench bench;
  set_tenant(bench, {.ns = "a", .weight = 3});
  bench.worker("w1").joins(1);
  submit(bench, "b", 12);
  submit(bench, "a", 12);
  const std::string order = served(bench, "w1", 17).substr(1);
  EXPECT_EQ(order.substr(0, 12), "aaaabaaabaaa") << "b has had one turn before";
}

TEST(Share, GivesNoCreditForIdleTime) {
  Bench bench;
  bench.worker("w1").joins(1);
  submit(bench, "a", 30);
  served(bench, "w1", 20);
  submit(bench, "b", 10);
  EXPECT_EQ(served(bench, "w1", 9).substr(1), "babababa") << "it does not get all the turns that it did not ask for";
}

TEST(Share, LendsWhatNobodyElseWants) {
  Bench bench;
  set_tenant(bench, {.ns = "a", .weight = 0.001});
  set_tenant(bench, {.ns = "b", .weight = 1000});
  bench.worker("w1").joins(5);
  submit(bench, "a", 5);
  EXPECT_EQ(bench.worker("w1").live().executions.size(), 5u);
}

TEST(Share, IsStrictBetweenClassesWhateverTheWeights) {
  Bench bench;
  set_tenant(bench, {.ns = "a", .weight = 1000});
  bench.worker("w1").joins(1);
  submit(bench, "a", 3);
  submit(bench, "b", 2, a_job().priority(Priority::High));
  EXPECT_EQ(served(bench, "w1", 5), "abbaa");
}

TEST(Share, FollowsAWeightThatIsChangedWhileItRuns) {
  Bench bench;
  set_tenant(bench, {.ns = "a", .weight = 0.001});
  bench.worker("w1").joins(1);
  submit(bench, "b", 40);
  submit(bench, "a", 20);
  EXPECT_EQ(served(bench, "w1", 6), "babbbb") << "its first turn costs it a thousand of the others'";
  set_tenant(bench, {.ns = "a", .weight = 1});
  const std::string order = served(bench, "w1", 10);
  EXPECT_GE(std::count(order.begin(), order.end(), 'a'), 4) << order;
}

TEST(Share, LetsATenantWhoseJobsDidNotFitCatchUpOnSomeTurnsOnly) {
  Bench bench;
  bench.checks = false;
  bench.worker("w1").joins(1);
  submit(bench, "a", 100, a_job().pool("gpu"));
  submit(bench, "b", 400);
  served(bench, "w1", 200);
  bench.worker("w2").joins(a_worker().slots(1).label("pool", "gpu"));
  const std::string order = served(bench, "w2", 150);
  const size_t until = order.find("bab");
  EXPECT_LE(until, kMaxCatchUp + 2) << order;
  EXPECT_GT(until, kMaxCatchUp / 2) << order;
}

TEST(Share, SurvivesARestart) {
  Bench bench;
  set_tenant(bench, {.ns = "a", .weight = 4, .max_running = 7});
  bench.restart();
  const TenantViews all = bench.ask<TenantViews>(Question{DescribeTenants{}});
  ASSERT_EQ(all.tenants.size(), 1u);
  EXPECT_EQ(all.tenants[0].row, (TenantRow{.ns = "a", .weight = 4, .max_running = 7}));
}

TEST(Share, ForgetsATenantThatIsLikeAnyOtherAgain) {
  Bench bench;
  set_tenant(bench, {.ns = "a", .weight = 4, .max_running = 7});
  EXPECT_EQ(bench.rows.tenants.size(), 1u);
  set_tenant(bench, {.ns = "a", .weight = 1, .max_running = 0});
  EXPECT_TRUE(bench.rows.tenants.empty());
  EXPECT_TRUE(bench.ask<TenantViews>(Question{DescribeTenants{}}).tenants.empty());
}

TEST(Share, RefusesAWeightOfNothing) {
  Bench bench;
  const absl::Status refused = bench.refused(SetTenant{.ns = "a", .weight = 0});
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_TRUE(bench.rows.tenants.empty());
}

// Tenants of several weights, each with work of several shapes waiting at any time; jobs that run for random times on
// workers of several sizes.
class Contest {
 public:
  explicit Contest(uint64_t seed) : random_(seed) {
    bench_.checks = false;
    const uint64_t tenants = 2 + below(6);
    for (uint64_t t = 0; t < tenants; ++t) {
      constexpr double kWeights[] = {0.5, 1, 1, 1.5, 2, 3, 5, 10};
      weights_.push_back(kWeights[below(8)]);
      set_tenant(bench_, {.ns = name(t), .weight = weights_.back()});
    }
    placed_.resize(tenants);
    waiting_.resize(tenants);
    shapes_ = 1 + below(5);
    const uint64_t workers = 1 + below(4);
    for (uint64_t w = 0; w < workers; ++w) {
      bench_.worker(cat("w", w))
          .joins(
              a_worker().slots(static_cast<uint32_t>(1 + below(8))).memory(static_cast<int64_t>(2000 + below(4000))));
    }
  }

  void run(int placements) {
    refill();
    collect();
    std::fill(placed_.begin(), placed_.end(), 0);  // the idle workers went to whoever came first
    while (total() < placements) {
      ASSERT_FALSE(running_.empty());
      const auto first = running_.begin();
      const auto [worker, job] = first->second;
      const uint64_t at = first->first;
      running_.erase(first);
      now_ = at;
      bench_.worker(worker).starts(job).finishes(job);
      collect();
      refill();
      collect();
    }
  }

  void check() const {
    double sum = 0;
    for (const double w : weights_) sum += w;
    for (size_t t = 0; t < weights_.size(); ++t) {
      const double share = static_cast<double>(placed_[t]) / static_cast<double>(total());
      EXPECT_NEAR(share / (weights_[t] / sum), 1, 0.05) << name(t) << " has weight " << weights_[t] << " of " << sum;
    }
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  static std::string name(uint64_t tenant) { return cat("t", tenant); }
  int64_t total() const { return std::accumulate(placed_.begin(), placed_.end(), int64_t{0}); }

  void refill() {
    for (size_t t = 0; t < waiting_.size(); ++t) {
      for (; waiting_[t] < 20; ++waiting_[t]) {
        bench_.submit(a_job().in(name(t)).memory(static_cast<int64_t>(100 * (1 + below(shapes_)))));
      }
    }
  }

  void collect() {
    for (const RunExecution& run : bench_.told<RunExecution>()) {
      const JobId job = run.execution.job;
      const size_t tenant = std::stoul(bench_.job(job).ns.str().substr(1));
      ++placed_[tenant];
      --waiting_[tenant];
      running_.emplace(now_ + 1 + below(1000), std::pair(run.worker.str(), job));
    }
    bench_.effects.clear();
  }

  std::mt19937_64 random_;
  Bench bench_;
  std::vector<double> weights_;
  std::vector<int64_t> placed_, waiting_;
  uint64_t shapes_ = 1;
  uint64_t now_ = 0;
  std::multimap<uint64_t, std::pair<std::string, JobId>> running_;
};

TEST(Share, IsWithinAFewPercentOfTheWeightsOverTenThousandPlacements) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    Contest contest(seed);
    contest.run(10'000);
    contest.check();
  }
}

}  // namespace
}  // namespace hodei::core::share_test
