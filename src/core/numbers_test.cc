// Numbers that are none, at every border of the engine: in requests they are refused by the name of their field, in
// what workers measure and in stored rows they are bounded.
#include <cmath>
#include <functional>

#include "gmock/gmock.h"
#include "src/base/codec.h"
#include "src/base/odd_numbers.h"
#include "src/core/engine_harness.h"
#include "src/core/jobs/retry.h"

namespace hodei::core::numbers_test {
namespace {

using testing::StartsWith;

struct Border {
  std::string field;
  std::function<absl::Status(double)> check;
  bool zero_is_good = true;
};

std::vector<Border> borders_of_requests(Bench& bench) {
  const auto scheduler = [&bench](std::optional<double> ConfigureScheduler::*part) {
    return [&bench, part](double v) {
      ConfigureScheduler c;
      c.*part = v;
      return bench.refused(c);
    };
  };
  return {
      {"backoff.factor",
       [](double v) {
         JobSpec spec = a_job().spec;
         spec.backoff_factor = v;
         return validate(spec);
       },
       false},
      {"weight_capacity", scheduler(&ConfigureScheduler::capacity)},
      {"weight_load", scheduler(&ConfigureScheduler::load)},
      {"weight_affinity", scheduler(&ConfigureScheduler::affinity)},
      {"weight_zone", scheduler(&ConfigureScheduler::zone)},
      {"weight_history", scheduler(&ConfigureScheduler::history)},
      {"threshold", scheduler(&ConfigureScheduler::threshold)},
      {"weight", [&bench](double v) { return bench.refused(SetTenant{.ns = "team", .weight = v}); }, false},
      {"rate",
       [&bench](double v) { return bench.refused(SetLimit{.ns = "default", .key = "k", .limit = 1, .rate = v}); },
       false},
      {"cost",
       [&bench](double v) {
         ProviderRow row{.name = "p", .type = "docker"};
         row.cost = v;
         return bench.refused(
             PutProvider{.row = row, .is_new = !bench.engine().modules().provisioning.providers.all().contains("p")});
       }},
  };
}

TEST(Numbers, WhatIsNoAmountIsRefusedByTheNameOfItsField) {
  Bench bench;
  for (const Border& border : borders_of_requests(bench)) {
    for (const double odd : no_amounts()) {
      const absl::Status status = border.check(odd);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << border.field << " " << odd;
      EXPECT_THAT(std::string(status.message()), StartsWith(border.field + ": must be ")) << odd;
    }
    if (!border.zero_is_good) continue;
    for (const double tiny : tiny_amounts())
      EXPECT_EQ(border.check(tiny), absl::OkStatus()) << border.field << " " << tiny;
  }
  EXPECT_FALSE(std::signbit(bench.engine().modules().placement.scheduler.config().capacity));
}

TEST(Numbers, WhatAWorkerMeasuresIsBounded) {
  Bench bench;
  Hand worker = bench.worker("w1");
  worker.joins();
  const JobId job = bench.submit(a_job());
  worker.starts(job);
  for (const double odd : no_amounts()) {
    worker.beats(odd);
    EXPECT_TRUE(worker.live().cpu_load >= 0 && worker.live().cpu_load <= 1) << odd;
    EXPECT_FALSE(std::isnan(worker.live().rank)) << odd;
    ASSERT_TRUE(worker.reports({.progress = {{bench.current(job), odd, ""}}}).ok());
    const double progress = bench.job(job).past->progress;
    EXPECT_TRUE(progress >= 0 && progress <= 100) << odd;
  }
}

TEST(Numbers, ABackOffIsBoundedWhateverItsFactor) {
  JobHead job;
  job.id = JobId{1};
  job.attempts = 700;
  for (const double odd : no_amounts()) {
    job.backoff.factor = odd;
    const Duration wait = backoff_delay(job);
    EXPECT_TRUE(wait >= Duration(0) && wait <= job.backoff.max) << odd << " " << wait.count();
  }
  job.backoff = {.initial = Duration(0), .max = Duration(-5), .factor = 1e308};
  EXPECT_EQ(backoff_delay(job), Duration(0));
}

TEST(Numbers, StoredAmountsAreReadWithinTheirLimits) {
  for (const int64_t odd : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
    Encoder tenant;
    tenant.text("team").i64(odd).i64(0).i64(0).i64(0).i64(0);
    EXPECT_TRUE(validate(decode_tenant(tenant.bytes())).ok()) << odd;
    Tenant live;
    live.set(decode_tenant(tenant.bytes()));
    EXPECT_TRUE(live.stride >= 100 && live.stride <= 100'000'000) << odd;
    Encoder rate;
    rate.text("default").text("key").i64(1).i64(odd).i64(odd);
    EXPECT_TRUE(validate(decode_key_rule(rate.bytes())).ok()) << odd;
  }
  for (const double odd : no_amounts()) {
    Past past;
    past.progress = odd;
    past.executions.emplace_back().decision.score.capacity = odd;
    const std::shared_ptr<const Past> read = decode_past(encode(past));
    EXPECT_TRUE(read->progress >= -1 && read->progress <= 100) << odd;
    EXPECT_TRUE(std::isfinite(read->executions[0].decision.score.capacity)) << odd;
  }
}

}  // namespace
}  // namespace hodei::core::numbers_test
