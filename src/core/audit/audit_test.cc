// Who did what: everything that grants or takes away access, or changes how the installation behaves, is in the audit
// trail, in the batch that does it.
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
  bench.ask_as<OtpMade>("ann", MakeOtp{hash128("t"), WorkerId("w1")});
  EXPECT_THAT(recorded(), ElementsAre("otp.created w1"));
  RegisterWorker c;
  c.otp = hash128("t");
  c.new_session = hash128("s");
  c.info = a_worker().info;
  c.info.id = WorkerId("w1");
  c.incarnation = "i1";
  bench.ask_as<Registered>("ann", c);
  EXPECT_THAT(recorded(), ElementsAre("worker.registered w1"));
  bench.ask_as<Registered>("ann", c);
  EXPECT_THAT(recorded(), IsEmpty()) << "the same call again";
  c.otp.reset();
  c.session = c.new_session;
  bench.ask_as<Registered>("ann", c);
  EXPECT_THAT(recorded(), IsEmpty()) << "it comes back with its session";
}

TEST_F(AuditTrail, WhatIsDoneToWorkers) {
  bench.worker("w1").joins();
  bench.ask_as<WorkerViews>("ann", TaintWorker{WorkerId("w1"), {{"disk", "bad", TaintEffect::NoExecute}}});
  EXPECT_THAT(bench.rows.audit.back().detail, HasSubstr("disk=bad:NoExecute"));
  EXPECT_THAT(recorded(), ElementsAre("worker.tainted w1"));
  bench.ask_as<WorkerViews>("ann", TaintWorker{WorkerId("w1"), {{"disk", "bad", TaintEffect::NoExecute}}});
  EXPECT_THAT(recorded(), IsEmpty()) << "nothing changed";
  bench.ask_as<Drained>("ann", DrainWorker{WorkerId("w1"), "maintenance"});
  EXPECT_EQ(bench.rows.audit.back().detail, "maintenance");
  EXPECT_THAT(recorded(), ElementsAre("worker.drained w1"));
  bench.worker("w2").joins();
  const JobId job = bench.submit(a_job());
  bench.worker("w2").takes(job);
  bench.ask_as<Drained>("ann", DrainWorker{WorkerId("w2"), ""});
  bench.ask_as<WorkerViews>("ann", UndrainWorker{WorkerId("w2")});
  EXPECT_THAT(recorded(), ElementsAre("worker.drained w2", "worker.undrained w2"));
  bench.ask_as<WorkerViews>("ann", UndrainWorker{WorkerId("w2")});
  EXPECT_THAT(recorded(), IsEmpty()) << "it took work all along";
  bench.worker("w2").finishes(job);
  bench.ask_as<Done>("ann", UnregisterWorker{WorkerId("w2"), "sold", false});
  EXPECT_THAT(recorded(), ElementsAre("worker.removed w2"));
  bench.worker("w3").joins();
  bench.ask_as<Done>("ann", UnregisterWorker{WorkerId("w3"), "", true});
  EXPECT_THAT(recorded(), ElementsAre("worker.unregistered w3"));
}

TEST_F(AuditTrail, Settings) {
  ConfigureScheduler scheduler;
  scheduler.threshold = 3;
  bench.ask_as<SchedulerConfig>("ann", scheduler);
  EXPECT_THAT(bench.rows.audit.back().detail, HasSubstr("threshold 3"));
  EXPECT_THAT(recorded(), ElementsAre("scheduler.set scheduler"));
  bench.ask_as<SchedulerConfig>("ann", scheduler);
  EXPECT_THAT(recorded(), IsEmpty()) << "nothing changed";
  bench.ask_as<TenantViews>("ann", SetTenant{.ns = "a", .weight = 2.0});
  bench.ask_as<LimitViews>("ann", SetLimit{.ns = "a", .key = "db", .limit = 3});
  bench.ask_as<Done>("ann", DropLimit{"a", "db"});
  EXPECT_THAT(recorded(), ElementsAre("tenant.set a", "limit.set db", "limit.removed db"));
  const ProviderOrder provider = a_provider("p");
  bench.ask_as<ProviderViews>("ann", PutProvider{provider.row, true});
  bench.ask_as<Done>("ann", PutPool{{.name = "pool"}});
  bench.ask_as<Done>("ann", DropPool{"pool"});
  bench.ask_as<Done>("ann", DropProvider{"p"});
  EXPECT_THAT(recorded(), ElementsAre("provider.added p", "pool.set pool", "pool.removed pool", "provider.removed p"));
  bench.ask_as<TemplatePut>("ann", PutJobTemplate{{.ns = "a", .name = "t", .bytes = "x"}});
  bench.ask_as<Done>("ann", DropJobTemplate{"a", "t"});
  EXPECT_THAT(recorded(), ElementsAre("template.set t", "template.removed t"));
}

TEST_F(AuditTrail, WorkThatSomebodyHandsOut) {
  bench.worker("w1").joins(a_worker().taint({"k", "v", TaintEffect::NoSchedule}));
  const JobId job = bench.submit(a_job());
  EXPECT_FALSE(bench.decide_as("ann", Assign{job, WorkerId("w1")}).ok());
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
