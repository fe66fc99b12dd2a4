// `hodei tenant` and `hodei limit`.
#include "src/cli/cli_fixture.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli::share_test {
namespace {

using testing::HasSubstr;

v1::Tenant tenant() {
  v1::Tenant out;
  out.set_namespace_("team-a");
  out.set_weight(2.5);
  out.set_max_running(10);
  out.set_running(3);
  out.set_pending(7);
  return out;
}

v1::Limit limit() {
  v1::Limit out;
  out.set_namespace_("default");
  out.set_key("db");
  out.set_rate(5);
  out.set_burst(2);
  out.set_held(1);
  out.set_waiting(4);
  out.set_is_set(true);
  return out;
}

TEST_F(CliTest, TenantsAreListedWithWhatTheyHaveOfTheirQuotas) {
  server_.scheduler.tenants = {tenant()};
  ASSERT_EQ(run({"tenant", "list"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("team-a"));
  EXPECT_THAT(out_, HasSubstr("3 of 10"));
  EXPECT_THAT(out_, HasSubstr("2.5"));
  out_.clear();
  ASSERT_EQ(run({"tenant", "list", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "team-a\n");
}

TEST_F(CliTest, ATenantIsSetByWhatIsGivenAndNothingElse) {
  server_.scheduler.tenants = {tenant()};
  ASSERT_EQ(run({"tenant", "set", "team-a", "--weight", "2.5", "--max-cpu", "1.5", "--max-memory", "2g",
                 "--max-pending", "0"}),
            0)
      << err_;
  const v1::SetTenantRequest& asked = server_.scheduler.tenants_set.at(0);
  EXPECT_EQ(asked.namespace_(), "team-a");
  EXPECT_EQ(asked.weight(), 2.5);
  EXPECT_EQ(asked.max_cpu_cores(), 1.5);
  EXPECT_EQ(asked.max_memory_mb(), 2048);
  EXPECT_TRUE(asked.has_max_pending());
  EXPECT_FALSE(asked.has_max_running());
  EXPECT_NE(run({"tenant", "set", "team-a", "--weight", "much"}), 0);
  EXPECT_THAT(err_, HasSubstr("--weight"));
}

TEST_F(CliTest, ALimitIsSetListedAndRemoved) {
  server_.scheduler.limits = {limit()};
  ASSERT_EQ(run({"limit", "set", "db", "--limit", "0", "--rate", "300/m", "--burst", "2"}), 0) << err_;
  const v1::SetLimitRequest& asked = server_.scheduler.limits_set.at(0);
  EXPECT_TRUE(asked.has_limit());
  EXPECT_EQ(asked.limit(), 0);
  EXPECT_DOUBLE_EQ(asked.rate(), 5);
  EXPECT_EQ(asked.burst(), 2);
  out_.clear();
  ASSERT_EQ(run({"limit", "list"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("5/s"));
  EXPECT_THAT(out_, HasSubstr("none")) << "its limit";
  EXPECT_THAT(out_, HasSubstr("user"));
  ASSERT_EQ(run({"limit", "rm", "db"}), 0) << err_;
  EXPECT_EQ(server_.scheduler.limits_removed, std::vector<std::string>{"db"});
}

TEST(Rates, AreReadByTheSecondMinuteHourOrDay) {
  EXPECT_DOUBLE_EQ(*parse_rate("5"), 5);
  EXPECT_DOUBLE_EQ(*parse_rate("5/s"), 5);
  EXPECT_DOUBLE_EQ(*parse_rate("90/m"), 1.5);
  EXPECT_DOUBLE_EQ(*parse_rate("1/h"), 1.0 / 3600);
  EXPECT_DOUBLE_EQ(*parse_rate("0"), 0);
  for (const char* bad : {"", "/s", "5/ms", "5/", "-1/s", "5 s", "x/s"}) EXPECT_FALSE(parse_rate(bad).ok()) << bad;
}

}  // namespace
}  // namespace hodei::cli::share_test
