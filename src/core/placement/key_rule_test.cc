#include "src/core/placement/key_rule.h"

#include <cmath>
#include <deque>
#include <random>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::core::key_rule_test {
namespace {

constexpr MonoTime kStart{1'000'000'000};

TEST(KeyRule, ReadsBackWhatWasWritten) {
  for (const std::optional<int64_t> limit :
       {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(7)}) {
    const KeyRule rule{"team", "db/main", limit, 2.5, 4};
    EXPECT_EQ(decode_key_rule(encode(rule)), rule);
  }
}

TEST(KeyRule, RefusesWhatMeansNothingAndNamesTheField) {
  const auto refused = [](const KeyRule& rule, std::string_view field) {
    const absl::Status status = validate(rule);
    return absl::IsInvalidArgument(status) && std::string(status.message()).starts_with(field);
  };
  EXPECT_TRUE(validate({"a", "k", 1, 5, 1}).ok());
  EXPECT_TRUE(refused({"", "k", 1, 0, 0}, "namespace"));
  EXPECT_TRUE(refused({"a", "", 1, 0, 0}, "key"));
  EXPECT_TRUE(refused({"a", "k", -1, 0, 0}, "limit"));
  EXPECT_TRUE(refused({"a", "k", 1, -1, 1}, "rate"));
  EXPECT_TRUE(refused({"a", "k", 1, 1e-7, 1}, "rate"));
  EXPECT_TRUE(refused({"a", "k", 1, 0, 3}, "burst"));
  EXPECT_TRUE(refused({"a", "k", 1, 2, 0}, "burst"));
  EXPECT_TRUE(refused({"a", "k", 1, 2, kMaxBurst + 1}, "burst"));
}

TEST(Bucket, LetsItsBurstThroughAndThenItsRate) {
  Bucket bucket;
  bucket.set(2, 3, kStart);
  EXPECT_EQ(bucket.ready(kStart), 3);
  for (int i = 0; i < 3; ++i) bucket.take(kStart);
  EXPECT_EQ(bucket.ready(kStart), 0);
  EXPECT_EQ(bucket.next(kStart), kStart + 500ms);
  EXPECT_EQ(bucket.ready(kStart + 499ms), 0);
  EXPECT_EQ(bucket.ready(kStart + 500ms), 1);
  EXPECT_EQ(bucket.ready(kStart + 3600s), 3) << "it holds no more than its burst";
}

TEST(Bucket, StartsEmptyWhenToldTo) {
  Bucket bucket;
  bucket.set(1, 5, kStart);
  bucket.empty(kStart);
  EXPECT_EQ(bucket.ready(kStart), 0);
  EXPECT_EQ(bucket.next(kStart), kStart + 1s);
  EXPECT_EQ(bucket.ready(kStart + 1s), 1);
}

TEST(Bucket, KeepsWhatWasTakenWhenItsRateChanges) {
  Bucket bucket;
  bucket.set(1, 2, kStart);
  bucket.take(kStart);
  bucket.take(kStart);
  bucket.set(10, 5, kStart);
  EXPECT_EQ(bucket.ready(kStart), 0) << "setting a rate again is no way around it";
  EXPECT_EQ(bucket.ready(kStart + 100ms), 1);
  bucket.set(0, 0, kStart + 100ms);
  EXPECT_EQ(bucket.ready(kStart + 100ms), INT64_MAX);
}

TEST(Bucket, IsReadyAtTheTimeThatItNames) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    Bucket bucket;
    const double rate = std::pow(10, static_cast<double>(random() % 1000) / 100 - 4);
    bucket.set(rate, static_cast<int64_t>(random() % 50) + 1, kStart);
    bucket.empty(kStart);
    const MonoTime next = bucket.next(kStart);
    EXPECT_GT(next, kStart) << rate;
    EXPECT_EQ(bucket.ready(next), 1) << rate;
    EXPECT_EQ(bucket.ready(next - 1us), 0) << rate;
  }
}

// Over any window there are at most burst + rate × window starts, whenever somebody asks.
TEST(Bucket, NeverLetsMoreThroughThanItsRateOverAnyWindow) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937_64 random(seed);
    const double rate = static_cast<double>(random() % 5000 + 1) / 100;
    const auto burst = static_cast<int64_t>(random() % 10) + 2;
    Bucket bucket;
    bucket.set(rate, burst, kStart);
    std::deque<MonoTime> starts;
    MonoTime now = kStart;
    // Nobody asks so late that the bucket runs over: what is left in it is less than one.
    const auto until_full = static_cast<uint64_t>(1e6 * static_cast<double>(burst - 1) / rate);
    for (int i = 0; i < 400; ++i) {
      now = now + Duration(static_cast<int64_t>(random() % until_full));
      while (bucket.ready(now) > 0) {
        bucket.take(now);
        starts.push_back(now);
      }
    }
    for (size_t from = 0; from < starts.size(); ++from) {
      for (size_t to = from; to < starts.size(); ++to) {
        const double window = static_cast<double>((starts[to] - starts[from]).count()) / 1e6;
        const double most = static_cast<double>(burst) + rate * window + 1e-6;
        if (static_cast<double>(to - from + 1) > most) FAIL() << to - from + 1 << " in " << window << " s";
      }
    }
    const double all = static_cast<double>((now - kStart).count()) / 1e6 * rate;
    EXPECT_GT(static_cast<double>(starts.size()), all - 1) << "it holds back more than it has to";
  }
}

}  // namespace
}  // namespace hodei::core::key_rule_test
