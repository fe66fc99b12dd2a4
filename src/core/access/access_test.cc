// Users and groups.
#include "gmock/gmock.h"
#include "src/core/engine_harness.h"

namespace hodei::core::access_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

UserRow ann(std::vector<std::string> groups = {}) { return {.name = "ann", .groups = std::move(groups)}; }

UserRow stored(Bench& bench) { return bench.ask<UserViews>(Question{DescribeUsers{"ann"}}).users.at(0); }

TEST(Access, UsersBelongToGroupsThatExist) {
  Bench bench;
  EXPECT_THAT(bench.refused(PutUser{ann({"ops"})}).message(), HasSubstr("group 'ops' does not exist"));
  bench.ask<Done>(PutGroup{{.name = "ops", .description = "who runs it"}});
  bench.ask<Done>(PutGroup{{.name = "dev"}});
  bench.ask<UserViews>(PutUser{ann({"ops", "dev", "ops"})});
  EXPECT_THAT(stored(bench).groups, ElementsAre("dev", "ops"));
  const GroupViews groups = bench.ask<GroupViews>(Question{DescribeGroups{}});
  ASSERT_EQ(groups.groups.size(), 2u);
  EXPECT_EQ(groups.groups[1].row.description, "who runs it");
  EXPECT_EQ(groups.groups[1].users, 1u);
  EXPECT_THAT(bench.refused(DropGroup{"ops"}).message(), HasSubstr("still has 1 user"));
  bench.ask<Done>(DropUser{"ann"});
  bench.ask<Done>(DropGroup{"ops"});
  EXPECT_EQ(bench.refused(DropUser{"ann"}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(bench.refused(DropGroup{"ops"}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(bench.refused(Question{DescribeUsers{"ann"}}).code(), absl::StatusCode::kNotFound);
}

TEST(Access, NamesAreChecked) {
  Bench bench;
  EXPECT_THAT(bench.refused(PutUser{{.name = ""}}).message(), HasSubstr("name"));
  EXPECT_THAT(bench.refused(PutGroup{{.name = "a b"}}).message(), HasSubstr("name"));
}

TEST(Access, WhenAUserWasSeenIsNotedToTheHour) {
  Bench bench;
  bench.ask<UserViews>(PutUser{ann()});
  EXPECT_FALSE(stored(bench).last_seen.is_set());
  bench.decide_as("ann", Question{DescribeGroups{}}).IgnoreError();
  const WallTime seen = stored(bench).last_seen;
  EXPECT_EQ(seen, bench.now.wall);
  bench.advance(std::chrono::minutes(59));
  bench.decide_as("ann", Question{DescribeGroups{}}).IgnoreError();
  EXPECT_EQ(stored(bench).last_seen, seen);
  bench.advance(std::chrono::minutes(1));
  bench.decide_as("ann", Question{DescribeGroups{}}).IgnoreError();
  EXPECT_EQ(stored(bench).last_seen, bench.now.wall);
  bench.decide_as("bob", Question{DescribeGroups{}}).IgnoreError();
  EXPECT_EQ(bench.rows.users.size(), 1u) << "nobody becomes a user by saying so";
  bench.ask<UserViews>(PutUser{{.name = "ann", .display_name = "Ann"}});
  EXPECT_EQ(stored(bench).last_seen, bench.now.wall) << "a change of the row keeps it";
}

TEST(Access, ChangesAreAudited) {
  Bench bench;
  bench.ask_as<Done>("root", PutGroup{{.name = "ops"}});
  bench.ask_as<Done>("root", PutGroup{{.name = "ops"}});
  bench.ask_as<UserViews>("root", PutUser{ann({"ops"})});
  bench.ask_as<Done>("root", DropUser{"ann"});
  std::vector<std::string> actions;
  for (const AuditRow& row : bench.rows.audit)
    actions.push_back(row.action + " " + row.subject + " by " + row.principal);
  EXPECT_THAT(actions, ElementsAre("group.set ops by root", "user.set ann by root", "user.removed ann by root"));
}

}  // namespace
}  // namespace hodei::core::access_test
