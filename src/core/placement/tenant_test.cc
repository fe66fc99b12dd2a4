#include "src/core/placement/tenant.h"

#include <cmath>

#include "gtest/gtest.h"

namespace hodei::core::tenant_test {
namespace {

TEST(TenantRow, ReadsBackWhatWasWritten) {
  const TenantRow row{"team-a", 2.5, 3, 1500, 2048, 10};
  EXPECT_EQ(decode_tenant(encode(row)), row);
  EXPECT_EQ(encode(decode_tenant(encode(TenantRow{.ns = "x", .weight = 0.1}))),
            encode(TenantRow{.ns = "x", .weight = 0.1}));
}

TEST(TenantRow, RefusesWhatMeansNothingAndNamesTheField) {
  const auto refused = [](TenantRow row, std::string_view field) {
    const absl::Status status = validate(row);
    return absl::IsInvalidArgument(status) && std::string(status.message()).starts_with(field);
  };
  EXPECT_TRUE(validate(TenantRow{.ns = "a"}).ok());
  EXPECT_TRUE(refused({.ns = ""}, "namespace"));
  EXPECT_TRUE(refused({.ns = "a/b"}, "namespace"));
  for (const double weight : {0.0, -1.0, 0.0009, 1000.1, std::nan(""), HUGE_VAL}) {
    EXPECT_TRUE(refused({.ns = "a", .weight = weight}, "weight")) << weight;
  }
  EXPECT_TRUE(refused({.ns = "a", .max_running = -1}, "max_running"));
  EXPECT_TRUE(refused({.ns = "a", .max_cpu_milli = -1}, "max_cpu_cores"));
  EXPECT_TRUE(refused({.ns = "a", .max_memory_mb = kMaxQuota + 1}, "max_memory_mb"));
  EXPECT_TRUE(refused({.ns = "a", .max_pending = -5}, "max_pending"));
}

TEST(Tenant, HasRoomForAsManyAsTheTightestQuotaLeaves) {
  Tenant tenant;
  const Amounts needs{2000, 100, 0, 0};
  EXPECT_EQ(tenant.room(needs), INT64_MAX);
  tenant.set({.ns = "a", .max_running = 10, .max_cpu_milli = 9000, .max_memory_mb = 1000});
  EXPECT_EQ(tenant.room(needs), 4);
  tenant.used = {7000, 500, 0, 0};
  tenant.running = 9;
  EXPECT_EQ(tenant.room(needs), 1);
  EXPECT_EQ(tenant.room({3000, 0, 0, 0}), 0);
  EXPECT_EQ(tenant.room({0, 0, 0, 0}), 1) << "what asks for nothing still takes a slot";
  tenant.running = 12;
  EXPECT_FALSE(tenant.admits({0, 0, 0, 0})) << "a quota below what runs admits nothing";
}

TEST(Tenant, IsClosedWhenTheSmallestOfWhatWaitsIsTooLarge) {
  Tenant tenant;
  tenant.set({.ns = "a", .max_cpu_milli = 4000});
  EXPECT_FALSE(tenant.closed());
  tenant.used.cpu_milli = 3000;
  tenant.count_lane({2000, 0, 0, 0}, true);
  EXPECT_TRUE(tenant.closed());
  tenant.count_lane({1000, 0, 0, 0}, true);
  EXPECT_FALSE(tenant.closed());
  tenant.count_lane({1000, 0, 0, 0}, false);
  EXPECT_TRUE(tenant.closed());
}

}  // namespace
}  // namespace hodei::core::tenant_test
