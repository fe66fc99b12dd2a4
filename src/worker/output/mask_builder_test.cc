#include "src/worker/output/mask_builder.h"

#include <poll.h>

#include "gtest/gtest.h"

namespace hodei::worker::mask_builder_test {
namespace {

constexpr ExecutionId kFirst{JobId{5}, 1};
constexpr ExecutionId kSecond{JobId{6}, 1};

std::string large_value() {
  std::string value;
  for (int i = 0; i < 2000; ++i) value += std::to_string(i * 7919);
  return value;
}

// All that are made until there are so many.
std::vector<MaskBuilder::Made> await(MaskBuilder& builder, size_t count) {
  std::vector<MaskBuilder::Made> all;
  while (all.size() < count) {
    pollfd ready{builder.ready_fd(), POLLIN, 0};
    if (poll(&ready, 1, 60'000) != 1) break;
    for (MaskBuilder::Made& made : builder.take()) all.push_back(std::move(made));
  }
  return all;
}

TEST(MaskBuilder, MakesSmallOnesAtOnce) {
  MaskBuilder builder;
  const auto mask = builder.ask(kFirst, {{"s", "s3cr3t-value"}});
  ASSERT_TRUE(mask && *mask);
  EXPECT_EQ(masked("<s3cr3t-value>", **mask), "<************>");
  const auto none = builder.ask(kFirst, {{"s", "short"}});
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr) << "there is nothing to look for";
}

TEST(MaskBuilder, MakesLargeOnesOnItsThreadAndSharesThem) {
  MaskBuilder builder;
  builder.start();
  EXPECT_FALSE(builder.ask(kFirst, {{"s", large_value()}}));
  EXPECT_FALSE(builder.ask(kSecond, {{"another name", large_value()}})) << "the first is not finished";
  const std::vector<MaskBuilder::Made> made = await(builder, 2);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].execution, kFirst);
  EXPECT_EQ(made[1].execution, kSecond);
  ASSERT_NE(made[0].mask, nullptr);
  EXPECT_EQ(made[0].mask, made[1].mask);
  EXPECT_EQ(masked(large_value(), *made[0].mask), std::string(large_value().size(), '*'));
  const auto third = builder.ask(kFirst, {{"s", large_value()}});
  ASSERT_TRUE(third) << "it is known while somebody uses it";
  EXPECT_EQ(*third, made[0].mask);
}

}  // namespace
}  // namespace hodei::worker::mask_builder_test
