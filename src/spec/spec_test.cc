// Specs: what goes in comes out, and what is wrong reaches the one place that says so.
#include "gtest/gtest.h"
#include "src/spec/fingerprint.h"
#include "src/spec/job_spec.h"
#include "src/spec/prepare.h"
#include "src/spec/render.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"

namespace hodei::spec::spec_test {
namespace {

v1::JobSpec shell_spec(const std::string& cmd = "true") {
  v1::JobSpec spec;
  spec.mutable_command()->mutable_shell()->set_cmd(cmd);
  return spec;
}

bool names(const absl::Status& status, std::string_view field) {
  return std::string_view(status.message().data(), status.message().size()).starts_with(field);
}

TEST(JobSpec, CarriesEveryFieldOfASpec) {
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

TEST(JobSpec, AllowsRetryUnlessItIsForbidden) {
  EXPECT_TRUE(from_proto(shell_spec()).allow_retry);
  v1::JobSpec with_zone = shell_spec();
  with_zone.mutable_preferences()->set_preferred_zone("a");
  EXPECT_TRUE(from_proto(with_zone).allow_retry);
}

TEST(JobSpec, LetsNegativeAndUnknownValuesReachValidation) {
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

TEST(JobSpec, DoesNotFoldAWideEnumIntoASmallOne) {
  v1::JobSpec isolation = shell_spec();
  isolation.mutable_constraints()->set_isolation(static_cast<v1::Constraints::Isolation>(257));
  EXPECT_TRUE(names(core::validate(from_proto(isolation)), "constraints.isolation"));
  v1::JobSpec rule = shell_spec();
  rule.mutable_constraints()->add_labels()->set_key("a");
  rule.mutable_constraints()->mutable_labels(0)->set_operator_(static_cast<v1::LabelRule::Operator>(259));
  EXPECT_TRUE(names(core::validate(from_proto(rule)), "constraints.labels[0].operator"));
}

TEST(JobSpec, BringsAffinityIntoTheShapeAndLabelsIntoTheHead) {
  v1::JobSpec spec = shell_spec();
  (*spec.mutable_labels())["app"] = "web";
  v1::JobAffinity& affinity = *spec.mutable_constraints()->add_affinity();
  affinity.mutable_rule()->set_key("app");
  affinity.mutable_rule()->set_operator_(v1::LabelRule::In);
  affinity.mutable_rule()->add_values("db");
  affinity.set_anti(true);
  affinity.set_required(true);
  const core::JobHead head = core::head_of(from_proto(spec));
  const core::AffinityRule expected{{"app", core::LabelOperator::In, {"db"}}, true, true};
  EXPECT_EQ(head.shape->affinity, std::vector{expected});
  EXPECT_EQ(core::decode_shape(head.shape->encoded).affinity, std::vector{expected});
  EXPECT_EQ(*head.labels, (core::Labels{{"app", "web"}}));
  affinity.mutable_rule()->set_operator_(static_cast<v1::LabelRule::Operator>(259));
  EXPECT_TRUE(names(core::validate(from_proto(spec)), "constraints.affinity[0].rule.operator"));
}

// Field numbers 10, 7, 1, 2, 3: a spec that was stored when the field was called `company`, and `anti` was `away`.
TEST(JobSpec, ReadsTheAffinityOfASpecThatWasStoredUnderTheOldFieldNames) {
  const std::string stored(
      "\x52\x13\x3a\x11\x0a\x0b\x0a\x03"
      "app\x10\x01\x1a\x02"
      "db\x10\x01\x18\x01",
      21);
  v1::JobSpec spec;
  ASSERT_TRUE(spec.ParseFromString(stored));
  ASSERT_EQ(spec.constraints().affinity_size(), 1);
  const v1::JobAffinity& affinity = spec.constraints().affinity(0);
  EXPECT_EQ(affinity.rule().key(), "app");
  EXPECT_EQ(affinity.rule().values(0), "db");
  EXPECT_TRUE(affinity.anti());
  EXPECT_TRUE(affinity.required());
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

TEST(Submission, ChecksTheSpecAndTheCorrelationId) {
  EXPECT_TRUE(names(new_job(v1::JobSpec(), "default", "", "").status(), "command"));
  EXPECT_TRUE(names(new_job(shell_spec(), "default", std::string(201, 'c'), "").status(), "correlation_id"));
  v1::JobSpec large = shell_spec(std::string(core::kMaxSpecBytes, 'x'));
  EXPECT_TRUE(names(new_job(large, "default", "", "").status(), "spec: is "));
  const absl::StatusOr<core::NewJob> job = new_job(shell_spec(), "default", "", "");
  ASSERT_TRUE(job.ok());
  EXPECT_FALSE(job->spec->correlation_id.empty()) << "made when none was given";
  EXPECT_EQ(job->spec->bytes, shell_spec().SerializeAsString()) << "the spec stays as it came";
}

TEST(Submission, TellsKeysOfNamespacesApart) {
  v1::JobSpec spec = shell_spec();
  spec.set_idempotency_key("k");
  EXPECT_NE(new_job(spec, "a", "", "")->idempotency, new_job(spec, "b", "", "")->idempotency);
  EXPECT_EQ(new_job(spec, "a", "", "")->idempotency, new_job(spec, "a", "", "")->idempotency);
}

TEST(Submission, FindsABadTemplateWhenItIsStored) {
  v1::Template bad;
  bad.set_name("bad");
  *bad.mutable_spec() = shell_spec("${missing}");
  EXPECT_TRUE(names(template_row(bad, "default").status(), "spec: '${missing'"));
  *bad.mutable_spec() = v1::JobSpec();
  EXPECT_TRUE(names(template_row(bad, "default").status(), "command"));
  bad.set_name("../x");
  EXPECT_TRUE(names(template_row(bad, "default").status(), "template.name"));
}

v1::Template build_template() {
  v1::Template out;
  out.set_name("build");
  out.add_parameters()->set_name("target");
  *out.mutable_spec() = shell_spec("make");
  out.mutable_spec()->mutable_command()->mutable_shell()->add_args("${target}");
  out.mutable_spec()->set_max_attempts(2);
  return out;
}

TEST(Prepare, RendersAStoredTemplateIntoAJob) {
  const absl::StatusOr<core::TemplateRow> row = template_row(build_template(), "team");
  ASSERT_TRUE(row.ok()) << row.status();
  v1::JobSpec beside;
  beside.set_name("nightly");
  const core::JobRequest request{"team", "build", beside.SerializeAsString(), {{"target", "all"}}, "run 7"};
  const absl::StatusOr<core::NewJob> job = prepare_job(request, &*row);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->head.ns.str(), "team");
  EXPECT_EQ(job->head.max_attempts, 2u);
  EXPECT_EQ(job->spec->name, "nightly");
  EXPECT_EQ(job->spec->template_name, "build");
  EXPECT_EQ(job->spec->correlation_id, "run 7");
  v1::JobSpec stored;
  ASSERT_TRUE(stored.ParseFromString(job->spec->bytes));
  EXPECT_EQ(stored.command().shell().args(0), "all");
}

TEST(Prepare, TakesASpecAsItIs) {
  const std::string bytes = shell_spec("make").SerializeAsString();
  const absl::StatusOr<core::NewJob> job = prepare_job({.ns = "default", .spec = bytes}, nullptr);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->spec->bytes, bytes);
  EXPECT_EQ(job->spec->template_name, "");
}

TEST(Prepare, SaysWhatIsWrongWithARequest) {
  EXPECT_TRUE(names(prepare_job({.ns = "default", .spec = "\xff"}, nullptr).status(), "spec: cannot be read"));
  EXPECT_TRUE(names(prepare_job({.ns = "default"}, nullptr).status(), "command"));
  const core::JobRequest stray{"default", "", shell_spec().SerializeAsString(), {{"a", "b"}}, ""};
  EXPECT_TRUE(names(prepare_job(stray, nullptr).status(), "parameters"));
  const absl::StatusOr<core::TemplateRow> row = template_row(build_template(), "default");
  EXPECT_TRUE(names(prepare_job({.ns = "default"}, &*row).status(), "parameters: 'target' has no default"));
}

v1::JobSpec keyed_echo(const std::string& word, const std::string& key = "k") {
  v1::JobSpec spec = shell_spec();
  spec.mutable_command()->mutable_shell()->add_args(word);
  spec.set_idempotency_key(key);
  return spec;
}

TEST(Fingerprint, IsOfWhatTheJobDoes) {
  const uint64_t one = fingerprint_of(keyed_echo("a"));
  EXPECT_EQ(fingerprint_of(keyed_echo("a", "another key")), one);
  EXPECT_NE(fingerprint_of(keyed_echo("b")), one);
  v1::JobSpec traced = keyed_echo("a");
  traced.set_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  EXPECT_EQ(fingerprint_of(traced), one) << "each try has a trace of its own";
}

TEST(Fingerprint, ComparesSecretsByName) {
  const auto with_secret = [](const std::string& name, const std::string& sealed) {
    v1::JobSpec spec = keyed_echo("a");
    v1::Secret& secret = *spec.add_secrets();
    secret.set_name(name);
    secret.set_sealed(sealed);
    return fingerprint_of(spec);
  };
  EXPECT_EQ(with_secret("db", "x"), with_secret("db", "y")) << "it is sealed anew each time";
  EXPECT_NE(with_secret("db", "x"), with_secret("web", "x"));
}

}  // namespace
}  // namespace hodei::spec::spec_test
