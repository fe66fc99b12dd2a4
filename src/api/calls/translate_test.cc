// Between protobuf and the structs inside: what goes in comes out, and what is wrong reaches the one place that says
// so.
#include "src/api/calls/translate.h"

#include "gtest/gtest.h"

namespace hodei::api::translate_test {
namespace {

bool names(const absl::Status& status, std::string_view field) {
  return std::string_view(status.message().data(), status.message().size()).starts_with(field);
}

TEST(Translation, ShowsTheSchedulersSettingsAndWhatWouldUnblockAJob) {
  v1::SchedulerConfig config;
  to_proto(core::SchedulerConfig{.packing = core::Packing::Pack, .preemption = true, .reserve_after = 90s}, &config);
  EXPECT_EQ(config.packing(), v1::SchedulerConfig::pack);
  EXPECT_TRUE(config.preemption());
  EXPECT_EQ(config.reserve_after_ms(), 90'000);
  core::Explanation waiting;
  waiting.state = core::JobState::Pending;
  waiting.unblock = "more workers";
  v1::SchedulingDecision decision;
  to_proto(waiting, &decision);
  EXPECT_EQ(decision.unblock(), "more workers");
}

TEST(Translation, BringsAWorkerThereAndBack) {
  v1::WorkerInfo in;
  in.set_id("w1");
  in.set_slots(4);
  in.mutable_capacity()->set_cpu_cores(2.5);
  in.mutable_capacity()->set_gpus(1);
  in.add_capabilities("shell");
  in.add_capabilities("docker");
  (*in.mutable_labels())["zone"] = "a";
  in.add_taints()->set_key("own");
  const absl::StatusOr<core::WorkerInfo> info = from_proto(in);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->capabilities, (std::vector<std::string>{"docker", "shell"})) << "sorted";
  EXPECT_EQ(info->taints.at(0).effect, core::TaintEffect::NoSchedule);
  EXPECT_EQ(info->provider, "manual");
  core::WorkerView view;
  auto record = std::make_shared<core::WorkerRecord>();
  record->info = *info;
  view.record = record;
  view.state = core::WorkerState::Busy;
  v1::Worker out;
  to_proto(view, &out);
  EXPECT_DOUBLE_EQ(out.info().capacity().cpu_cores(), 2.5);
  EXPECT_EQ(out.info().slots(), 4);
  EXPECT_EQ(out.info().labels().at("zone"), "a");
  EXPECT_EQ(out.state(), v1::Worker::Busy);
}

TEST(Translation, RefusesAWorkerWithoutSlotsOrWithImpossibleCores) {
  v1::WorkerInfo in;
  in.set_id("w1");
  in.set_slots(-3);
  EXPECT_TRUE(names(from_proto(in).status(), "info.slots"));
  in.set_slots(1);
  in.mutable_capacity()->set_cpu_cores(-1);
  EXPECT_TRUE(names(from_proto(in).status(), "info.capacity.cpu_cores"));
}

TEST(Translation, ShowsAJobWithItsSpec) {
  store::JobView view;
  view.head.id = JobId{7};
  view.head.ns = Namespace("default");
  view.head.created = WallTime{1'700'000'000'123'456};
  view.head.state = core::JobState::Running;
  auto past = std::make_shared<core::Past>();
  past->transitions = {{core::JobState::Scheduled, core::JobState::Pending, view.head.created, 1, "assigned"}};
  past->executions.resize(1);
  past->executions[0].number = 1;
  past->executions[0].worker = WorkerId("w1");
  view.head.past = past;
  v1::JobSpec spec;
  spec.mutable_command()->mutable_shell()->set_cmd("make");
  view.spec.bytes = spec.SerializeAsString();
  v1::Job out;
  to_proto(view, true, &out);
  EXPECT_EQ(out.short_id(), short_id(JobId{7}));
  EXPECT_EQ(out.created_at().nanos(), 123'456'000);
  EXPECT_EQ(out.worker_id(), "w1");
  EXPECT_EQ(out.spec().command().shell().cmd(), "make");
  v1::Job brief;
  to_proto(view, false, &brief);
  EXPECT_FALSE(brief.has_spec());
}

}  // namespace
}  // namespace hodei::api::translate_test
