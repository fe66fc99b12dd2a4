// Stored secrets and the audit trail.
#include "src/core/engine_harness.h"

namespace hodei::core::secrets_test {
namespace {

SecretRow a_secret(std::string name) { return {.ns = "default", .name = std::move(name), .sealed = "sealed"}; }

TEST(Secrets, AreCountedByRevisionAndEveryChangeIsRecorded) {
  Bench bench;
  EXPECT_EQ(bench.ask_as<SecretPut>("local 127.0.0.1", PutStoredSecret{a_secret("token"), ""}).revision, 1);
  EXPECT_EQ(bench.ask_as<SecretPut>("local 127.0.0.1", PutStoredSecret{a_secret("token"), "short"}).revision, 2);
  bench.ask<Done>(DropStoredSecret{"default", "token"});
  ASSERT_EQ(bench.rows.audit.size(), 3u);
  EXPECT_EQ(bench.rows.audit[1].action, "secret.set");
  EXPECT_EQ(bench.rows.audit[1].detail, "revision 2; short");
  EXPECT_EQ(bench.rows.audit[1].principal, "local 127.0.0.1");
  EXPECT_EQ(bench.rows.audit[2].action, "secret.deleted");
  EXPECT_EQ(bench.rows.audit[2].number, 3u);
  EXPECT_EQ(bench.refused(DropStoredSecret{"default", "token"}).code(), absl::StatusCode::kNotFound);
}

TEST(Secrets, ANamespaceHasNoMoreThanItMay) {
  EngineConfig config;
  config.max_secrets = 2;
  Bench bench(config);
  bench.ask<SecretPut>(PutStoredSecret{a_secret("a"), ""});
  bench.ask<SecretPut>(PutStoredSecret{a_secret("b"), ""});
  EXPECT_EQ(bench.refused(PutStoredSecret{a_secret("c"), ""}).code(), absl::StatusCode::kResourceExhausted);
  bench.ask<SecretPut>(PutStoredSecret{a_secret("b"), ""});
  SecretRow other = a_secret("c");
  other.ns = "other";
  bench.ask<SecretPut>(PutStoredSecret{other, ""});
}

TEST(Secrets, TheirDeliveryIsRecordedInTheBatchThatSendsTheJob) {
  Bench bench;
  bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().secret("token"));
  ASSERT_EQ(bench.told<RunExecution>().size(), 1u);
  EXPECT_TRUE(bench.told<RunExecution>()[0].has_secrets);
  ASSERT_EQ(bench.rows.audit.size(), 1u);
  EXPECT_EQ(bench.rows.audit[0].action, "secret.delivered");
  EXPECT_EQ(bench.rows.audit[0].subject, to_string(ExecutionId{job, 1}));
  EXPECT_EQ(bench.rows.audit[0].principal, "worker w1");
  EXPECT_EQ(bench.rows.audit[0].detail, "token");
}

TEST(Audit, NumbersGoOnAfterARestart) {
  Bench bench;
  bench.ask<Done>(RecordAudit{{.action = "a"}});
  bench.restart();
  bench.ask<Done>(RecordAudit{{.action = "b"}});
  EXPECT_EQ(bench.rows.audit.back().number, 2u);
}

TEST(Audit, EntriesThatHaveOutlivedTheirTimeAreRemovedNowAndThen) {
  EngineConfig config;
  config.audit_life = std::chrono::hours(24);
  Bench bench(config);
  bench.ask<Done>(RecordAudit{{.action = "a"}});
  bench.checks = false;
  const auto expiries = [&] {
    bench.last = Turn{};
    int count = 0;
    for (int second = 0; second < 3601; ++second) {
      bench.advance(1s);
      for (const Write& write : bench.last.writes) count += std::holds_alternative<ExpireAudit>(write);
    }
    return count;
  };
  EXPECT_EQ(expiries(), 1);
}

// A server that began while the wall clock was years ahead: its steady clock stays there when the other is set right.
TEST(Audit, EntriesThatAreOldOnlyByTheSteadyClockStay) {
  EngineConfig config;
  config.audit_life = std::chrono::hours(24);
  Bench bench(config);
  bench.checks = false;
  bench.now.wall = bench.now.wall - std::chrono::hours(2 * 365 * 24);
  bench.ask<Done>(RecordAudit{{.action = "a"}});
  const WallTime recorded = bench.rows.audit.back().at;
  std::vector<WallTime> before;
  for (int second = 0; second < 3601; ++second) {
    bench.last = Turn{};
    bench.advance(1s);
    for (const Write& write : bench.last.writes) {
      if (const auto* expire = std::get_if<ExpireAudit>(&write)) before.push_back(expire->before);
    }
  }
  ASSERT_EQ(before.size(), 1u);
  EXPECT_LT(before[0], recorded);
}

}  // namespace
}  // namespace hodei::core::secrets_test
