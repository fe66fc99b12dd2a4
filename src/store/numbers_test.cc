// Rows with numbers that are none: a bit that fell over on a disk must not make a number that nobody can count with.
#include <bit>
#include <cmath>

#include "gtest/gtest.h"
#include "src/base/codec.h"
#include "src/base/odd_numbers.h"
#include "src/store/rows.h"

namespace hodei::store::numbers_test {
namespace {

std::vector<double> all_odd() {
  std::vector<double> odd = no_amounts();
  for (const double tiny : tiny_amounts()) odd.push_back(tiny);
  return odd;
}

TEST(StoredNumbers, WeightsOfTheSchedulerAreReadWithinTheirLimits) {
  for (const double odd : all_odd()) {
    core::SchedulerConfig config;
    for (double* part :
         {&config.capacity, &config.load, &config.affinity, &config.zone, &config.history, &config.threshold})
      *part = odd;
    const core::SchedulerConfig read = unpack_scheduler(pack(config));
    for (const double part : {read.capacity, read.load, read.affinity, read.zone, read.history, read.threshold}) {
      EXPECT_TRUE(part >= 0 && part <= core::kMaxScoreWeight) << odd << " became " << part;
      EXPECT_FALSE(std::signbit(part)) << odd;
    }
    EXPECT_EQ(pack(read), pack(unpack_scheduler(pack(read)))) << "what was read once does not change any more";
  }
}

TEST(StoredNumbers, FactorsOfBackOffsAreReadWithinTheirLimits) {
  for (const double odd : all_odd()) {
    core::JobHead job;
    job.backoff.factor = odd;
    core::JobHead read;
    unpack_details(pack_details(job), read);
    EXPECT_TRUE(read.backoff.factor >= 1 && read.backoff.factor <= core::kMaxBackoffFactor) << odd;
  }
}

}  // namespace
}  // namespace hodei::store::numbers_test
