// One leader at a time, whose term is lost and never seized back.
#include "src/store/conformance/leadership_suite.h"

namespace hodei::store {
namespace {

TEST_P(LeadershipSuite, ATermIsValidWhenItBegins) {
  const absl::StatusOr<Term> term = campaign(0);
  ASSERT_TRUE(term.ok()) << term.status();
  EXPECT_GT(term->valid_until, under_test().now());
  EXPECT_TRUE(under_test().commit(0, term->epoch).ok());
}

TEST_P(LeadershipSuite, OnlyOneServerLeads) {
  const Term first = campaign(0).value();
  EXPECT_EQ(campaign(1).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(campaign(0).status().code(), absl::StatusCode::kFailedPrecondition) << "nor twice";
  EXPECT_TRUE(of(0).renew(first).ok()) << "whoever tried in vain has not changed anything";
  EXPECT_TRUE(under_test().commit(0, first.epoch).ok());
}

TEST_P(LeadershipSuite, SaysWhoLeadsAndWhere) {
  EXPECT_FALSE(of(0).leader().value().has_value());
  const Term term = campaign(0).value();
  const std::optional<Leader> leader = of(0).leader().value();
  ASSERT_TRUE(leader.has_value());
  EXPECT_EQ(leader->epoch, term.epoch);
  EXPECT_EQ(leader->address, "server-0:7310");
}

TEST_P(LeadershipSuite, ARenewalKeepsTheEpoch) {
  const Term term = campaign(0).value();
  const absl::StatusOr<Term> renewed = of(0).renew(term);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_EQ(renewed->epoch, term.epoch);
  EXPECT_GE(renewed->valid_until, term.valid_until);
  EXPECT_TRUE(under_test().commit(0, term.epoch).ok());
}

TEST_P(LeadershipSuite, AnotherServerLeadsWithAHigherEpochWhenTheLeaderHasDied) {
  const Term first = campaign(0).value();
  under_test().kill(0);
  const absl::StatusOr<Term> second = campaign(1);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GT(second->epoch, first.epoch);
  EXPECT_EQ(under_test().commit(1, first.epoch).code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(under_test().commit(1, second->epoch).ok());
  EXPECT_EQ(of(1).leader().value()->address, "server-1:7310");
}

TEST_P(LeadershipSuite, ATermThatAnotherEpochHasEndedIsNeverRenewed) {
  const Term term = campaign(0).value();
  under_test().raise_epoch(0);
  EXPECT_EQ(of(0).renew(term).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(of(0).renew(term).status().code(), absl::StatusCode::kAborted) << "nor at the second try";
  EXPECT_EQ(under_test().commit(0, term.epoch).code(), absl::StatusCode::kAborted);
}

TEST_P(LeadershipSuite, WhoeverResignsDoesNotLeadAndOthersNeedNotWait) {
  const Term first = campaign(0).value();
  ASSERT_TRUE(of(0).resign(first).ok());
  EXPECT_FALSE(of(0).leader().value().has_value());
  EXPECT_EQ(of(0).renew(first).status().code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(of(0).resign(first).ok()) << "twice is once";
  const absl::StatusOr<Term> again = campaign(0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT(again->epoch, first.epoch);
}

TEST_P(LeadershipSuite, ALateResignationOfAnEarlierTermEndsNothing) {
  const Term first = campaign(0).value();
  ASSERT_TRUE(of(0).resign(first).ok());
  const Term second = campaign(0).value();
  ASSERT_TRUE(of(0).resign(first).ok());
  EXPECT_TRUE(of(0).renew(second).ok());
  EXPECT_TRUE(of(0).leader().value().has_value());
}

// Whoever grants the lease counts from when the request arrives, so a leader that counted from the answer would believe
// in its term while another server has begun one.
TEST_P(LeadershipSuite, ValidityCountsFromBeforeTheRequestWasSent) {
  if (!has_lease()) GTEST_SKIP() << "a lock has no end that is counted";
  const MonoTime before_campaign = under_test().now();
  under_test().delay_next_call(3s);
  const Term term = campaign(0).value();
  EXPECT_EQ(term.valid_until, before_campaign + GetParam().lease);
  const MonoTime before_renewal = under_test().now();
  under_test().delay_next_call(2s);
  EXPECT_EQ(of(0).renew(term)->valid_until, before_renewal + GetParam().lease);
}

TEST_P(LeadershipSuite, ARenewalThatDidNotArriveIsNoLoss) {
  if (!has_lease()) GTEST_SKIP() << "with a lock no call is lost";
  const Term term = campaign(0).value();
  under_test().lose_next_call(0);
  const absl::Status lost = of(0).renew(term).status();
  EXPECT_FALSE(lost.ok());
  EXPECT_FALSE(absl::IsAborted(lost)) << lost;
  EXPECT_TRUE(of(0).renew(term).ok());
}

TEST_P(LeadershipSuite, ATermThatRanOutIsRenewedOnlyWhileNobodyElseHasBegunOne) {
  if (!has_lease()) GTEST_SKIP() << "a lock does not run out";
  const Term term = campaign(0).value();
  under_test().delay_next_call(GetParam().lease * 2);
  const absl::StatusOr<Term> renewed = of(0).renew(term);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_LE(renewed->valid_until, under_test().now()) << "it has run out on the way";
  under_test().kill(0);
  ASSERT_TRUE(campaign(1).ok());
  EXPECT_EQ(of(0).renew(*renewed).status().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace hodei::store
