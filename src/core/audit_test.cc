// Who did what: everything that opens or closes a door, or changes how the installation behaves, is in the audit trail,
// in the batch that does it.
#include "gmock/gmock.h"
#include "src/core/provision_harness.h"

namespace hodei::core::audit_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AuditTrail : public testing::Test {
 protected:
  // The actions that were recorded since the last call.
  std::vector<std::string> recorded() {
    std::vector<std::string> out;
    for (; seen_ < bench.rows.audit.size(); ++seen_) {
      EXPECT_EQ(bench.rows.audit[seen_].principal, "ann");
      out.push_back(bench.rows.audit[seen_].action + " " + bench.rows.audit[seen_].subject);
    }
    return out;
  }

  Bench bench;

 private:
  size_t seen_ = 0;
};

TEST_F(AuditTrail, TokensAndRegistrations) {
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId("w1"), "ann"});
  EXPECT_THAT(recorded(), ElementsAre("otp.created w1"));
  RegisterWorker c;
  c.otp = hash128("t");
  c.new_session = hash128("s");
  c.info = a_worker().info;
  c.info.id = WorkerId("w1");
  c.incarnation = "i1";
  c.principal = "ann";
  bench.ask<Registered>(c);
  EXPECT_THAT(recorded(), ElementsAre("worker.registered w1"));
  bench.ask<Registered>(c);
  EXPECT_THAT(recorded(), IsEmpty()) << "the same call again";
  c.otp.reset();
  c.session = c.new_session;
  bench.ask<Registered>(c);
  EXPECT_THAT(recorded(), IsEmpty()) << "it comes back with its session";
}

TEST_F(AuditTrail, WhatIsDoneToWorkers) {
  bench.worker("w1").joins();
  bench.ask<WorkerViews>(TaintWorker{WorkerId("w1"), {{"disk", "bad", TaintEffect::NoExecute}}, "ann"});
  EXPECT_THAT(bench.rows.audit.back().detail, HasSubstr("disk=bad:NoExecute"));
  EXPECT_THAT(recorded(), ElementsAre("worker.tainted w1"));
  bench.ask<WorkerViews>(TaintWorker{WorkerId("w1"), {{"disk", "bad", TaintEffect::NoExecute}}, "ann"});
  EXPECT_THAT(recorded(), IsEmpty()) << "nothing changed";
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), "maintenance", "ann"});
  EXPECT_EQ(bench.rows.audit.back().detail, "maintenance");
  EXPECT_THAT(recorded(), ElementsAre("worker.drained w1"));
  bench.worker("w2").joins();
  const JobId job = bench.submit(a_job());
  bench.worker("w2").takes(job);
  bench.ask<Drained>(DrainWorker{WorkerId("w2"), "", "ann"});
  bench.ask<WorkerViews>(UndrainWorker{WorkerId("w2"), "ann"});
  EXPECT_THAT(recorded(), ElementsAre("worker.drained w2", "worker.undrained w2"));
  bench.ask<WorkerViews>(UndrainWorker{WorkerId("w2"), "ann"});
  EXPECT_THAT(recorded(), IsEmpty()) << "it took work all along";
  bench.worker("w2").finishes(job);
  bench.ask<Done>(UnregisterWorker{WorkerId("w2"), "sold", false, "ann"});
  EXPECT_THAT(recorded(), ElementsAre("worker.removed w2"));
  bench.worker("w3").joins();
  bench.ask<Done>(UnregisterWorker{WorkerId("w3"), "", true, "ann"});
  EXPECT_THAT(recorded(), ElementsAre("worker.unregistered w3"));
}

TEST_F(AuditTrail, Settings) {
  ConfigureScheduler scheduler;
  scheduler.threshold = 3;
  scheduler.principal = "ann";
  bench.ask<SchedulerConfig>(scheduler);
  EXPECT_THAT(bench.rows.audit.back().detail, HasSubstr("threshold 3"));
  EXPECT_THAT(recorded(), ElementsAre("scheduler.set scheduler"));
  bench.ask<SchedulerConfig>(scheduler);
  EXPECT_THAT(recorded(), IsEmpty()) << "nothing changed";
  bench.ask<TenantViews>(SetTenant{.ns = "a", .weight = 2.0, .principal = "ann"});
  bench.ask<LimitViews>(SetLimit{.ns = "a", .key = "db", .limit = 3, .principal = "ann"});
  bench.ask<Done>(DropLimit{"a", "db", "ann"});
  EXPECT_THAT(recorded(), ElementsAre("tenant.set a", "limit.set db", "limit.removed db"));
  const ProviderOrder provider = a_provider("p");
  bench.ask<ProviderViews>(PutProvider{provider.row, true, "ann"});
  bench.ask<Done>(PutPool{{.name = "pool"}, "ann"});
  bench.ask<Done>(DropPool{"pool", "ann"});
  bench.ask<Done>(DropProvider{"p", "ann"});
  EXPECT_THAT(recorded(), ElementsAre("provider.added p", "pool.set pool", "pool.removed pool", "provider.removed p"));
  bench.ask<TemplatePut>(PutJobTemplate{{.ns = "a", .name = "t", .bytes = "x"}, "ann"});
  bench.ask<Done>(DropJobTemplate{"a", "t", "ann"});
  EXPECT_THAT(recorded(), ElementsAre("template.set t", "template.removed t"));
}

TEST_F(AuditTrail, WorkThatSomebodyHandsOut) {
  bench.worker("w1").joins(a_worker().taint({"k", "v", TaintEffect::NoSchedule}));
  const JobId job = bench.submit(a_job());
  EXPECT_FALSE(bench.decide(Assign{job, WorkerId("w1"), "ann"}).ok());
  EXPECT_THAT(recorded(), IsEmpty()) << "what was refused did not happen";
}

TEST_F(AuditTrail, WhatTheServerDoesByItselfIsNotInIt) {
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId("w1")});
  bench.worker("w1").joins();
  bench.ask<Drained>(DrainWorker{WorkerId("w1")});
  EXPECT_THAT(recorded(), IsEmpty());
}

}  // namespace
}  // namespace hodei::core::audit_test
