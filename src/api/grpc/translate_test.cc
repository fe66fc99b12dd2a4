// Between protobuf and the structs inside: what goes in comes out, and what is wrong reaches the one place that says
// so.
#include "src/api/grpc/translate.h"

#include "gtest/gtest.h"
#include "src/api/grpc/render.h"
#include "src/api/grpc/submissions.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::translate_test {
namespace {

v1::JobSpec shell_spec(const std::string& cmd = "true") {
  v1::JobSpec spec;
  spec.mutable_command()->mutable_shell()->set_cmd(cmd);
  return spec;
}

bool names(const absl::Status& status, std::string_view field) {
  return std::string_view(status.message().data(), status.message().size()).starts_with(field);
}

TEST(Translation, CarriesEveryFieldOfASpec) {
  v1::JobSpec in = shell_spec("make");
  in.set_name("build");
  in.mutable_command()->mutable_shell()->add_args("all");
  (*in.mutable_env())["A"] = "1";
  in.set_working_dir("/src");
  in.mutable_resources()->set_cpu_cores(1.5);
  in.mutable_resources()->set_memory_mb(100);
  in.mutable_resources()->set_storage_mb(200);
  in.mutable_resources()->set_gpu_required(true);
  in.mutable_resources()->set_architecture("aarch64");
  in.set_timeout_ms(1000);
  in.set_max_attempts(3);
  in.mutable_backoff()->set_initial_ms(5);
  in.mutable_constraints()->set_pool("p");
  in.mutable_constraints()->set_isolation(v1::Constraints::container);
  v1::LabelRule* rule = in.mutable_constraints()->add_labels();
  rule->set_key("zone");
  rule->set_operator_(v1::LabelRule::Gt);
  rule->add_values("3");
  in.mutable_preferences()->set_priority(v1::Preferences::high);
  in.mutable_preferences()->set_allow_retry(false);
  in.mutable_concurrency()->set_key("db");
  in.mutable_concurrency()->set_limit(2);
  const core::JobSpec out = from_proto(in);
  EXPECT_TRUE(core::validate(out).ok()) << core::validate(out);
  EXPECT_EQ(std::get<core::ShellCommand>(out.command).args, std::vector<std::string>{"all"});
  EXPECT_EQ(out.env.at("A"), "1");
  EXPECT_EQ(out.shape.needs.gpus, 1);
  EXPECT_EQ(out.shape.isolation, core::Isolation::Container);
  EXPECT_EQ(out.shape.labels.at(0), (core::LabelRule{"zone", core::LabelOperator::Gt, {"3"}}));
  EXPECT_FALSE(out.allow_retry);
  const core::JobHead head = core::head_of(out);
  EXPECT_EQ(head.priority, core::Priority::High);
  EXPECT_EQ(head.max_attempts, 3u);
  EXPECT_EQ(head.timeout, Duration(1s));
  EXPECT_EQ(head.backoff.initial, Duration(5ms));
  EXPECT_EQ(head.shape->needs.cpu_milli, 1500);
}

TEST(Translation, AllowsRetryUnlessItIsForbidden) {
  EXPECT_TRUE(from_proto(shell_spec()).allow_retry);
  v1::JobSpec with_zone = shell_spec();
  with_zone.mutable_preferences()->set_preferred_zone("a");
  EXPECT_TRUE(from_proto(with_zone).allow_retry);
}

TEST(Translation, LetsNegativeAndUnknownValuesReachValidation) {
  v1::JobSpec memory = shell_spec();
  memory.mutable_resources()->set_memory_mb(-1);
  EXPECT_TRUE(names(core::validate(from_proto(memory)), "resources.memory_mb"));
  v1::JobSpec attempts = shell_spec();
  attempts.set_max_attempts(-5);
  EXPECT_TRUE(names(core::validate(from_proto(attempts)), "max_attempts"));
  v1::JobSpec limit = shell_spec();
  limit.mutable_concurrency()->set_key("k");
  limit.mutable_concurrency()->set_limit(-1);
  EXPECT_TRUE(names(core::validate(from_proto(limit)), "concurrency.limit"));
  v1::JobSpec priority = shell_spec();
  priority.mutable_preferences()->set_priority(static_cast<v1::Preferences::Priority>(77));
  EXPECT_TRUE(names(core::validate(from_proto(priority)), "preferences.priority"));
}

TEST(Translation, DoesNotFoldAWideEnumIntoASmallOne) {
  v1::JobSpec isolation = shell_spec();
  isolation.mutable_constraints()->set_isolation(static_cast<v1::Constraints::Isolation>(257));
  EXPECT_TRUE(names(core::validate(from_proto(isolation)), "constraints.isolation"));
  v1::JobSpec rule = shell_spec();
  rule.mutable_constraints()->add_labels()->set_key("a");
  rule.mutable_constraints()->mutable_labels(0)->set_operator_(static_cast<v1::LabelRule::Operator>(259));
  EXPECT_TRUE(names(core::validate(from_proto(rule)), "constraints.labels[0].operator"));
}

TEST(Translation, BringsCompanyIntoTheShapeAndLabelsIntoTheHead) {
  v1::JobSpec spec = shell_spec();
  (*spec.mutable_labels())["app"] = "web";
  v1::Company& company = *spec.mutable_constraints()->add_company();
  company.mutable_rule()->set_key("app");
  company.mutable_rule()->set_operator_(v1::LabelRule::In);
  company.mutable_rule()->add_values("db");
  company.set_away(true);
  company.set_required(true);
  const core::JobHead head = core::head_of(from_proto(spec));
  const core::CompanyRule expected{{"app", core::LabelOperator::In, {"db"}}, true, true};
  EXPECT_EQ(head.shape->company, std::vector{expected});
  EXPECT_EQ(core::decode_shape(head.shape->encoded).company, std::vector{expected});
  EXPECT_EQ(*head.labels, (core::Labels{{"app", "web"}}));
  company.mutable_rule()->set_operator_(static_cast<v1::LabelRule::Operator>(259));
  EXPECT_TRUE(names(core::validate(from_proto(spec)), "constraints.company[0].rule.operator"));
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
  view.spec.bytes = shell_spec("make").SerializeAsString();
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

TEST(Translation, KeepsTheCodeAndTextOfAStatus) {
  const grpc::Status status = to_grpc(absl::FailedPreconditionError("not now"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "not now");
  EXPECT_TRUE(to_grpc(absl::OkStatus()).ok());
}

TEST(Render, FillsEveryStringWhereverItIs) {
  v1::JobSpec spec = shell_spec("${a}");
  spec.mutable_command()->mutable_shell()->add_args("x-${b}");
  (*spec.mutable_env())["K"] = "${b}";
  spec.mutable_constraints()->add_labels()->add_values("${a}");
  ASSERT_TRUE(render({{"a", "1"}, {"b", "2"}}, spec).ok());
  EXPECT_EQ(spec.command().shell().cmd(), "1");
  EXPECT_EQ(spec.command().shell().args(0), "x-2");
  EXPECT_EQ(spec.env().at("K"), "2");
  EXPECT_EQ(spec.constraints().labels(0).values(0), "1");
  EXPECT_FALSE(render({}, *std::make_unique<v1::JobSpec>(shell_spec("${gone}"))).ok());
}

TEST(Render, StopsBeforeAllTextsTogetherGrowTooLong) {
  v1::JobSpec spec = shell_spec("true");
  for (int i = 0; i < 100; ++i) spec.mutable_command()->mutable_shell()->add_args("${a}");
  const absl::Status status = render({{"a", std::string(60'000, 'x')}}, spec);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_LT(spec.ByteSizeLong(), 2 * core::kMaxRendered);
}

class SubmissionTest : public ::testing::Test {
 protected:
  SubmissionTest() {
    v1::Template wanted;
    wanted.set_name("build");
    wanted.add_parameters()->set_name("target");
    *wanted.mutable_spec() = shell_spec("make");
    wanted.mutable_spec()->mutable_command()->mutable_shell()->add_args("${target}");
    wanted.mutable_spec()->set_max_attempts(2);
    absl::StatusOr<core::TemplateRow> row = template_row(wanted, "default");
    EXPECT_TRUE(row.ok()) << row.status();
    EXPECT_TRUE(store_.new_epoch().ok());
    EXPECT_TRUE(store_.commit({core::PutTemplate{*row}}, store::Epoch{1}, store::BatchNo{1}).ok());
    request_.set_template_("build");
    (*request_.mutable_parameters())["target"] = "all";
  }

  store::MemoryStore store_;
  v1::QueueJobRequest request_;
};

TEST_F(SubmissionTest, IsRenderedFromItsTemplate) {
  const absl::StatusOr<v1::JobSpec> spec = rendered_spec(request_, "default", store_);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->command().shell().args(0), "all");
  EXPECT_EQ(spec->max_attempts(), 2);
}

TEST_F(SubmissionTest, LetsWhatIsSetBesideATemplateWin) {
  request_.mutable_spec()->set_max_attempts(5);
  request_.mutable_spec()->mutable_command()->mutable_script()->set_content("true");
  const absl::StatusOr<v1::JobSpec> spec = rendered_spec(request_, "default", store_);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->max_attempts(), 5);
  EXPECT_TRUE(spec->command().has_script());
}

TEST_F(SubmissionTest, NamesWhatIsWrongWithTheRequest) {
  v1::QueueJobRequest empty;
  EXPECT_TRUE(names(rendered_spec(empty, "default", store_).status(), "spec: is required"));
  v1::QueueJobRequest stray;
  *stray.mutable_spec() = shell_spec();
  (*stray.mutable_parameters())["a"] = "b";
  EXPECT_TRUE(names(rendered_spec(stray, "default", store_).status(), "parameters: are only for templates"));
  const absl::Status unknown = rendered_spec(request_, "other", store_).status();
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_TRUE(names(unknown, "template: 'build' does not exist in namespace 'other'"));
  request_.clear_parameters();
  EXPECT_TRUE(names(rendered_spec(request_, "default", store_).status(), "parameters: 'target' has no default"));
  EXPECT_TRUE(names(namespace_of("../x").status(), "namespace"));
  EXPECT_EQ(*namespace_of(""), "default");
}

TEST_F(SubmissionTest, ChecksTheSpecAndTheCorrelationId) {
  EXPECT_TRUE(names(new_job(v1::JobSpec(), "default", "", "").status(), "command"));
  EXPECT_TRUE(names(new_job(shell_spec(), "default", std::string(201, 'c'), "").status(), "correlation_id"));
  v1::JobSpec large = shell_spec(std::string(core::kMaxSpecBytes, 'x'));
  EXPECT_TRUE(names(new_job(large, "default", "", "").status(), "spec: is "));
  const absl::StatusOr<core::NewJob> job = new_job(shell_spec(), "default", "", "");
  ASSERT_TRUE(job.ok());
  EXPECT_FALSE(job->spec->correlation_id.empty()) << "made when none was given";
  EXPECT_EQ(job->spec->bytes, shell_spec().SerializeAsString()) << "the spec stays as it came";
}

TEST_F(SubmissionTest, TellsKeysOfNamespacesApart) {
  v1::JobSpec spec = shell_spec();
  spec.set_idempotency_key("k");
  EXPECT_NE(new_job(spec, "a", "", "")->idempotency, new_job(spec, "b", "", "")->idempotency);
  EXPECT_EQ(new_job(spec, "a", "", "")->idempotency, new_job(spec, "a", "", "")->idempotency);
}

TEST_F(SubmissionTest, FindsABadTemplateWhenItIsStored) {
  v1::Template bad;
  bad.set_name("bad");
  *bad.mutable_spec() = shell_spec("${missing}");
  EXPECT_TRUE(names(template_row(bad, "default").status(), "spec: '${missing'"));
  *bad.mutable_spec() = v1::JobSpec();
  EXPECT_TRUE(names(template_row(bad, "default").status(), "command"));
  bad.set_name("../x");
  EXPECT_TRUE(names(template_row(bad, "default").status(), "template.name"));
}

}  // namespace
}  // namespace hodei::api::translate_test
