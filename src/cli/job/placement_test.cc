// Placement on the command line: flags of jobs, taints, the scheduler's settings.
#include "src/cli/cli_fixture.h"

namespace hodei::cli::placement_test {
namespace {

using testing::HasSubstr;

TEST_F(CliTest, FlagsOfPlacementGoIntoTheJob) {
  EXPECT_EQ(run({"job",
                 "submit",
                 "--isolation",
                 "container",
                 "--arch",
                 "x86_64",
                 "--gpu",
                 "--pool",
                 "p",
                 "--toleration",
                 "team=a",
                 "--toleration",
                 "old",
                 "--constraint",
                 "zone In (a,b)",
                 "--near",
                 "app=db",
                 "--away",
                 "app In (web,cache)",
                 "--prefer-near",
                 "team",
                 "--prefer-away",
                 "!team",
                 "--prefer-provider",
                 "docker",
                 "--",
                 "true"}),
            0)
      << err_;
  ASSERT_EQ(server_.jobs.queued.size(), 1u);
  const v1::JobSpec& spec = server_.jobs.queued[0].spec();
  const v1::Constraints& c = spec.constraints();
  EXPECT_EQ(c.isolation(), v1::Constraints::container);
  EXPECT_EQ(spec.resources().architecture(), "x86_64");
  EXPECT_TRUE(spec.resources().gpu_required());
  EXPECT_EQ(c.tolerations(0).value(), "a");
  EXPECT_EQ(c.tolerations(1).key(), "old");
  EXPECT_EQ(c.labels(0).values_size(), 2);
  EXPECT_EQ(spec.preferences().preferred_provider(), "docker");
  ASSERT_EQ(c.affinity_size(), 4);
  EXPECT_EQ(c.affinity(0).rule().key(), "app");
  EXPECT_TRUE(c.affinity(0).required() && !c.affinity(0).anti());
  EXPECT_TRUE(c.affinity(1).required() && c.affinity(1).anti());
  EXPECT_EQ(c.affinity(1).rule().values(1), "cache");
  EXPECT_TRUE(!c.affinity(2).required() && !c.affinity(2).anti());
  EXPECT_TRUE(!c.affinity(3).required() && c.affinity(3).anti());
  EXPECT_EQ(c.affinity(3).rule().operator_(), v1::LabelRule::DoesNotExist);
}

TEST_F(CliTest, PlacementThatMakesNoSenseIsRefusedWithTheFlagsName) {
  EXPECT_EQ(run({"job", "submit", "--isolation", "contaner", "--", "true"}), 2);
  EXPECT_THAT(
      err_, HasSubstr("--isolation: 'contaner' is not one of process, container, hardware; did you mean 'container'?"));
  EXPECT_EQ(run({"job", "submit", "--near", "app Im (db)", "--", "true"}), 2);
  EXPECT_THAT(err_, HasSubstr("--near: "));
  EXPECT_TRUE(server_.jobs.queued.empty());
}

TEST_F(CliTest, TaintsReplaceThoseOfAWorker) {
  server_.workers.ids = {"abc"};
  EXPECT_EQ(run({"worker", "taint", "ab", "gpu=only:NoExecute", "old"}), 0) << err_;
  ASSERT_EQ(server_.workers.tainted.size(), 1u);
  EXPECT_EQ(server_.workers.tainted[0].worker_id(), "abc");
  EXPECT_EQ(server_.workers.tainted[0].taints(0).effect(), v1::Taint::NoExecute);
  EXPECT_EQ(server_.workers.tainted[0].taints(1).effect(), v1::Taint::NoSchedule);
  EXPECT_EQ(out_, "abc has the taints gpu=only:NoExecute, old=:NoSchedule\n");
  EXPECT_EQ(run({"worker", "taint", "abc", "--clear"}), 0) << err_;
  EXPECT_EQ(server_.workers.tainted[1].taints_size(), 0);
  EXPECT_EQ(out_, "abc has no taints\n");
}

TEST_F(CliTest, TaintAsksForTaintsOrForNone) {
  server_.workers.ids = {"abc"};
  EXPECT_EQ(run({"worker", "taint", "abc"}), 2);
  EXPECT_THAT(err_, HasSubstr("--clear"));
  EXPECT_EQ(run({"worker", "taint", "abc", "old", "--clear"}), 2);
  EXPECT_EQ(run({"worker", "taint", "abc", "old:NoExcute"}), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean 'NoExecute'?"));
  EXPECT_TRUE(server_.workers.tainted.empty());
}

TEST_F(CliTest, SchedulerSetSendsOnlyWhatIsGiven) {
  EXPECT_EQ(run({"scheduler", "set", "--strategy", "round-robin", "--weight", "zone=40", "--weight", "load=0",
                 "--threshold", "5", "--packing", "pack", "--preemption", "on", "--reserve-after", "90s"}),
            0)
      << err_;
  const v1::ConfigureSchedulerRequest& sent = server_.scheduler.configured.at(0);
  EXPECT_EQ(sent.strategy(), v1::SchedulerConfig::round_robin);
  EXPECT_DOUBLE_EQ(sent.weight_zone(), 40);
  EXPECT_TRUE(sent.has_weight_load());
  EXPECT_FALSE(sent.has_weight_capacity());
  EXPECT_DOUBLE_EQ(sent.threshold(), 5);
  EXPECT_EQ(sent.packing(), v1::SchedulerConfig::pack);
  EXPECT_TRUE(sent.preemption());
  EXPECT_EQ(sent.reserve_after_ms(), 90'000);
  EXPECT_EQ(run({"scheduler", "set", "--reserve-after", "never", "--preemption", "off"}), 0) << err_;
  EXPECT_EQ(server_.scheduler.configured.at(1).reserve_after_ms(), 0);
  EXPECT_TRUE(server_.scheduler.configured.at(1).has_preemption());
}

TEST_F(CliTest, SchedulerGetShowsEverySetting) {
  v1::SchedulerConfig& config = server_.scheduler.config;
  config.set_strategy(v1::SchedulerConfig::least_connections);
  config.set_packing(v1::SchedulerConfig::spread);
  config.set_weight_zone(15);
  config.set_reserve_after_ms(30'000);
  EXPECT_EQ(run({"scheduler", "get"}), 0) << err_;
  for (const char* text : {"least-connections", "spread", "zone", "15", "Preemption", "off", "30 s"}) {
    EXPECT_THAT(out_, HasSubstr(text));
  }
}

TEST_F(CliTest, SchedulerSetRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(run({"scheduler", "set"}), 2);
  EXPECT_THAT(err_, HasSubstr("nothing to set"));
  EXPECT_EQ(run({"scheduler", "set", "--strategy", "robin"}), 2);
  EXPECT_EQ(run({"scheduler", "set", "--weight", "zones=3"}), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean 'zone'?"));
  EXPECT_EQ(run({"scheduler", "set", "--weight", "zone=much"}), 2);
  EXPECT_EQ(run({"scheduler", "set", "--packing", "tight"}), 2);
  EXPECT_EQ(run({"scheduler", "set", "--preemption", "yes"}), 2);
  EXPECT_THAT(err_, HasSubstr("--preemption"));
  EXPECT_EQ(run({"scheduler", "set", "--reserve-after", "soon"}), 2);
  EXPECT_THAT(err_, HasSubstr("--reserve-after"));
  EXPECT_TRUE(server_.scheduler.configured.empty());
}

TEST_F(CliTest, ExplainSaysWhatWouldHelp) {
  server_.jobs.jobs = {job_in(v1::Job::Pending)};
  server_.scheduler.decision.set_waiting_for(
      "worker w1 has been reserved for it for 5 s and is still running 2 executions");
  server_.scheduler.decision.set_unblock("the end of what is running there, or room elsewhere");
  server_.scheduler.decision.set_considered(1);
  EXPECT_EQ(run({"job", "explain", "j1"}), 0) << err_;
  EXPECT_THAT(out_,
              HasSubstr("It is waiting: worker w1 has been reserved for it for 5 s and is still running 2 executions.\n"
                        "  What would help: the end of what is running there, or room elsewhere.\n"));
}

}  // namespace
}  // namespace hodei::cli::placement_test
