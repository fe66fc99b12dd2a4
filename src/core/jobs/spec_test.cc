// Every bad field of a spec is refused by its name, and a good spec becomes the right head.
#include "src/core/jobs/spec.h"

#include <functional>
#include <limits>

#include "gtest/gtest.h"

namespace hodei::core::spec_test {
namespace {

JobSpec good() {
  JobSpec spec;
  spec.command = ShellCommand{"/bin/echo", {"hello"}};
  return spec;
}

struct BadField {
  const char* field;
  std::function<void(JobSpec&)> spoil;
};

std::string with_nul(const char* text) { return std::string(text) + '\0' + "x"; }

TEST(Spec, IsGoodWithACommandAlone) { EXPECT_TRUE(validate(good()).ok()) << validate(good()); }

TEST(Spec, IsRefusedByTheNameOfTheFieldThatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const BadField cases[] = {
      {"spec", [](JobSpec& s) { s.encoded_size = kMaxSpecBytes + 1; }},
      {"name", [](JobSpec& s) { s.name = std::string(kMaxNameLength + 1, 'a'); }},
      {"name", [](JobSpec& s) { s.name = "two\nlines"; }},
      {"name", [](JobSpec& s) { s.name = with_nul("a"); }},
      {"secrets[0].name", [](JobSpec& s) { s.secrets = {"../etc"}; }},
      {"secrets[1].name",
       [](JobSpec& s) {
         s.secrets = {"good", "1bad"};
       }},
      {"secrets[0].name", [](JobSpec& s) { s.secrets = {std::string(kMaxNameLength + 1, 'a')}; }},
      {"secrets",
       [](JobSpec& s) {
         s.secrets = {"a", "a"};
       }},
      {"secrets", [](JobSpec& s) { s.secrets.resize(kMaxSecrets + 1, "a"); }},
      {"constraints.tolerations", [](JobSpec& s) { s.shape.tolerations.resize(kMaxTolerations + 1); }},
      {"constraints.tolerations[0].key",
       [](JobSpec& s) {
         s.shape.tolerations = {{std::string(kMaxLabelKey + 1, 'k'), ""}};
       }},
      {"constraints.tolerations[1].value",
       [](JobSpec& s) {
         s.shape.tolerations = {{"a", ""}, {"b", std::string(kMaxLabelValue + 1, 'v')}};
       }},
      {"constraints.labels[0].values",
       [](JobSpec& s) {
         s.shape.labels = {{"k", LabelOperator::In, std::vector<std::string>(kMaxRuleValues + 1, "v")}};
       }},
      {"constraints.labels[0].values",
       [](JobSpec& s) {
         s.shape.labels = {{"k", LabelOperator::In, {std::string(kMaxLabelValue + 1, 'v')}}};
       }},
      {"constraints.labels[0].key",
       [](JobSpec& s) {
         s.shape.labels = {{std::string(kMaxLabelKey + 1, 'k'), LabelOperator::Exists, {}}};
       }},
      {"constraints.affinity[0].rule.values",
       [](JobSpec& s) {
         s.shape.affinity = {{{"k", LabelOperator::In, std::vector<std::string>(kMaxRuleValues + 1, "v")}}};
       }},
      {"constraints.capabilities", [](JobSpec& s) { s.shape.capabilities.resize(kMaxCapabilities + 1, "shell"); }},
      {"constraints",  // each is good, and together they are too much
       [](JobSpec& s) {
         s.shape.tolerations.resize(kMaxTolerations, {"key", std::string(kMaxLabelValue, 'v')});
       }},
      {"resources.architecture", [](JobSpec& s) { s.shape.architecture = std::string(kMaxNameLength + 1, 'a'); }},
      {"preferences.preferred_provider",
       [](JobSpec& s) { s.shape.preferred_provider = std::string(kMaxNameLength + 1, 'a'); }},
      {"preferences.preferred_region",
       [](JobSpec& s) { s.shape.preferred_region = std::string(kMaxLabelValue + 1, 'a'); }},
      {"preferences.preferred_zone", [](JobSpec& s) { s.shape.preferred_zone = std::string(kMaxLabelValue + 1, 'a'); }},
      {"working_dir", [](JobSpec& s) { s.working_dir = "../etc"; }},
      {"working_dir", [](JobSpec& s) { s.working_dir = with_nul("/tmp"); }},
      {"traceparent", [](JobSpec& s) { s.traceparent = "nonsense"; }},
      {"preferences.priority", [](JobSpec& s) { s.priority = 5; }},
      {"preferences.priority", [](JobSpec& s) { s.priority = -1; }},
      {"command", [](JobSpec& s) { s.command = std::monostate(); }},
      {"command.shell.cmd",
       [](JobSpec& s) {
         s.command = ShellCommand{"", {}};
       }},
      {"command.shell.cmd",
       [](JobSpec& s) {
         s.command = ShellCommand{with_nul("a"), {}};
       }},
      {"command.shell.args",
       [](JobSpec& s) {
         s.command = ShellCommand{"a", {with_nul("b")}};
       }},
      {"command.shell.args",
       [](JobSpec& s) {
         s.command = ShellCommand{"a", std::vector<std::string>(kMaxArgs + 1)};
       }},
      {"command.script.content",
       [](JobSpec& s) {
         s.command = ScriptCommand{"bash", ""};
       }},
      {"command.script.interpreter",
       [](JobSpec& s) {
         s.command = ScriptCommand{with_nul("bash"), "true"};
       }},
      {"env", [](JobSpec& s) { s.env[""] = "x"; }},
      {"inputs",
       [](JobSpec& s) {
         s.inputs.resize(kMaxArtifacts + 1, {"hodei:x", "x", "", 0});
       }},
      {"inputs[0].url",
       [](JobSpec& s) {
         s.inputs = {{"ftp://h/x", "x", "", 0}};
       }},
      {"inputs[0].url",
       [](JobSpec& s) {
         s.inputs = {{"hodei:", "x", "", 0}};
       }},
      {"inputs[0].url",
       [](JobSpec& s) {
         s.inputs = {{"file://relative", "x", "", 0}};
       }},
      {"inputs[0].url",
       [](JobSpec& s) {
         s.inputs = {{"http://h/x y", "x", "", 0}};
       }},
      {"inputs[1].path",
       [](JobSpec& s) {
         s.inputs = {{"hodei:x", "x", "", 0}, {"hodei:x", "/etc/passwd", "", 0}};
       }},
      {"inputs[0].path",
       [](JobSpec& s) {
         s.inputs = {{"http://h/x/", "", "", 0}};
       }},
      {"inputs[0].sha256",
       [](JobSpec& s) {
         s.inputs = {{"hodei:x", "x", "abc", 0}};
       }},
      {"outputs[0].path",
       [](JobSpec& s) {
         s.outputs = {{"hodei:x", "a/../../x", "", 0}};
       }},
      {"outputs[0].path",
       [](JobSpec& s) {
         s.outputs = {{"hodei:x", with_nul("a"), "", 0}};
       }},
      {"outputs[0].max_bytes",
       [](JobSpec& s) {
         s.outputs = {{"hodei:x", "x", "", -1}};
       }},
      {"env.A=B", [](JobSpec& s) { s.env["A=B"] = "x"; }},
      {"env.A", [](JobSpec& s) { s.env["A"] = with_nul("x"); }},
      {"env.HODEI_JOB_ID", [](JobSpec& s) { s.env["HODEI_JOB_ID"] = "x"; }},
      {"resources.cpu_milli", [](JobSpec& s) { s.cpu_milli = -1; }},
      {"resources.cpu_milli", [](JobSpec& s) { s.cpu_milli = kMaxCpuMilli + 1; }},
      {"resources.memory_mb", [](JobSpec& s) { s.memory_mb = -1; }},
      {"resources.pids", [](JobSpec& s) { s.pids = -1; }},
      {"resources.pids", [](JobSpec& s) { s.pids = kMaxPids + 1; }},
      {"resources.io_weight", [](JobSpec& s) { s.io_weight = 1001; }},
      {"sandbox.user", [](JobSpec& s) { s.sandbox_user = "a:b"; }},
      {"sandbox.user", [](JobSpec& s) { s.sandbox_user = std::string(100, 'a'); }},
      {"resources.storage_mb", [](JobSpec& s) { s.storage_mb = std::numeric_limits<int64_t>::max(); }},
      {"timeout_ms", [](JobSpec& s) { s.timeout_ms = -1; }},
      {"timeout_ms", [](JobSpec& s) { s.timeout_ms = kMaxTimeoutMs + 1; }},
      {"max_attempts", [](JobSpec& s) { s.max_attempts = -1; }},
      {"max_attempts", [](JobSpec& s) { s.max_attempts = kMaxAttempts + 1; }},
      {"backoff.initial_ms", [](JobSpec& s) { s.backoff_initial_ms = -1; }},
      {"backoff.max_ms", [](JobSpec& s) { s.backoff_max_ms = -1; }},
      {"backoff.factor", [](JobSpec& s) { s.backoff_factor = 0.5; }},
      {"backoff.factor", [=](JobSpec& s) { s.backoff_factor = nan; }},
      {"kill_grace_ms", [](JobSpec& s) { s.kill_grace_ms = 3600 * 1000 + 1; }},
      {"logs.policy", [](JobSpec& s) { s.log_policy = 3; }},
      {"logs.max_bytes", [](JobSpec& s) { s.log_max_bytes = -1; }},
      {"logs.max_bytes_per_second", [](JobSpec& s) { s.log_bytes_per_second = (int64_t{1} << 40) + 1; }},
      {"labels", [](JobSpec& s) { s.labels[""] = "x"; }},
      {"labels", [](JobSpec& s) { s.labels["a"] = std::string(501, 'x'); }},
      {"constraints.labels[0].key",
       [](JobSpec& s) {
         s.shape.labels = {{"", LabelOperator::Exists, {}}};
       }},
      {"constraints.labels[0].values",
       [](JobSpec& s) {
         s.shape.labels = {{"a", LabelOperator::In, {}}};
       }},
      {"constraints.labels[0].values",
       [](JobSpec& s) {
         s.shape.labels = {{"a", LabelOperator::Exists, {"b"}}};
       }},
      {"constraints.labels[0].values",
       [](JobSpec& s) {
         s.shape.labels = {{"a", LabelOperator::Gt, {"many"}}};
       }},
      {"constraints.labels[1].operator",
       [](JobSpec& s) {
         s.shape.labels = {{"a", LabelOperator::Exists, {}}, {"b", static_cast<LabelOperator>(99), {}}};
       }},
      {"constraints.pool", [](JobSpec& s) { s.shape.pool = "../x"; }},
      {"constraints.provider", [](JobSpec& s) { s.shape.provider = "a b"; }},
      {"constraints.capabilities", [](JobSpec& s) { s.shape.capabilities = {"-v"}; }},
      {"constraints.isolation", [](JobSpec& s) { s.shape.isolation = static_cast<Isolation>(9); }},
      {"image", [](JobSpec& s) { s.shape.image = "-rm"; }},
      {"image", [](JobSpec& s) { s.shape.image = with_nul("debian"); }},
      {"idempotency_key", [](JobSpec& s) { s.idempotency_key = std::string(kMaxKeyLength + 1, 'k'); }},
      {"concurrency.key", [](JobSpec& s) { s.concurrency_key = std::string(kMaxKeyLength + 1, 'k'); }},
      {"concurrency.key", [](JobSpec& s) { s.concurrency_limit = 3; }},
      {"concurrency.limit", [](JobSpec& s) { s.concurrency_key = "k", s.concurrency_limit = -1; }},
  };
  for (const BadField& bad : cases) {
    JobSpec spec = good();
    bad.spoil(spec);
    const absl::Status status = validate(spec);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad.field << " " << status;
    const std::string_view message(status.message().data(), status.message().size());
    EXPECT_TRUE(message.starts_with(std::string(bad.field) + ": ")) << bad.field << " " << status;
  }
}

TEST(Spec, HasTooManyLabelsVariablesOrExpressionsOnlyAboveTheLimit) {
  JobSpec spec = good();
  for (size_t i = 0; i < kMaxLabels; ++i) spec.labels["l" + std::to_string(i)] = "x";
  for (size_t i = 0; i < kMaxEnv; ++i) spec.env["E" + std::to_string(i)] = "x";
  EXPECT_TRUE(validate(spec).ok()) << validate(spec);
  JobSpec labels = spec;
  labels.labels["more"] = "x";
  EXPECT_FALSE(validate(labels).ok());
  JobSpec env = spec;
  env.env["MORE"] = "x";
  EXPECT_FALSE(validate(env).ok());
}

TEST(Head, HasTheDefaultsOfTheSpecification) {
  const JobHead head = head_of(good());
  EXPECT_EQ(head.priority, Priority::Normal);
  EXPECT_EQ(head.max_attempts, 1u);
  EXPECT_EQ(head.timeout, Duration(0));
  EXPECT_EQ(head.grace, Duration(5s));
  EXPECT_TRUE(head.allow_retry);
  EXPECT_EQ(head.backoff, Backoff());
  EXPECT_EQ(head.shape->capabilities, std::vector<std::string>{"shell"});
}

TEST(Head, NeedsTheCapabilityOfItsCommandOnce) {
  JobSpec spec = good();
  spec.command = ScriptCommand{"", "true"};
  spec.shape.capabilities = {"snmp", "script"};
  EXPECT_EQ(head_of(spec).shape->capabilities, (std::vector<std::string>{"script", "snmp"}));
}

TEST(Head, SharesItsShapeExactlyWithEqualRequirements) {
  JobSpec other = good();
  other.name = "another name, other labels, another priority";
  other.labels["a"] = "b";
  other.priority = 4;
  other.max_attempts = 3;
  EXPECT_EQ(head_of(good()).shape->encoded, head_of(other).shape->encoded);
  other.shape.preferred_zone = "a";
  EXPECT_NE(head_of(good()).shape->encoded, head_of(other).shape->encoded);
}

TEST(Shape, SurvivesItsColumnForm) {
  JobSpec spec = good();
  spec.cpu_milli = 1500;
  spec.memory_mb = 10;
  spec.storage_mb = 20;
  spec.shape.needs.gpus = 1;
  spec.shape.architecture = "arm64";
  spec.shape.isolation = Isolation::Container;
  spec.shape.image = "debian:12";
  spec.shape.pool = "p";
  spec.shape.provider = "docker";
  spec.shape.labels = {{"a", LabelOperator::In, {"1", "2"}}};
  spec.shape.tolerations = {{"t", "v"}};
  spec.shape.preferred_provider = "pp";
  spec.shape.preferred_region = "pr";
  spec.shape.preferred_zone = "pz";
  const std::string bytes = head_of(spec).shape->encoded;
  const Shape back = decode_shape(bytes);
  EXPECT_EQ(encode(back), bytes);
  EXPECT_EQ(back.labels, spec.shape.labels);
  EXPECT_EQ(back.needs.gpus, 1);
}

TEST(DefaultName, IsMadeFromTheCommand) {
  EXPECT_EQ(default_name(good()), "echo hello");
  JobSpec script = good();
  script.command = ScriptCommand{"", "true"};
  EXPECT_EQ(default_name(script), "bash script");
  JobSpec named = good();
  named.name = "mine";
  EXPECT_EQ(default_name(named), "mine");
  JobSpec long_one = good();
  long_one.command = ShellCommand{"sh", {"-c", std::string(200, 'x')}};
  EXPECT_EQ(default_name(long_one).size(), 60u);
  JobSpec lines = good();
  lines.command = ShellCommand{"sh", {"-c", "one\ntwo"}};
  EXPECT_EQ(default_name(lines), "sh -c one");
}

TEST(Validation, RefusesANulInAnyPartOfAScript) {
  const std::string nul("a\0b", 3);
  for (const ScriptCommand& script : {ScriptCommand{nul, "true"}, {"", nul}, {"", "true", {nul}}}) {
    JobSpec spec = good();
    spec.command = script;
    const absl::Status status = validate(spec);
    EXPECT_EQ(std::string(status.message()).rfind("command.script.", 0), 0u) << status;
  }
}

TEST(DefaultName, IsCutBetweenCharacters) {
  for (size_t before = 0; before < 4; ++before) {
    JobSpec spec = good();
    std::string text(before, 'x');
    for (int i = 0; i < 40; ++i) text += "\u00e9";
    spec.command = ShellCommand{"sh", {text}};
    const std::string name = default_name(spec);
    EXPECT_TRUE(name.ends_with("\u00e9...")) << name;
    EXPECT_LE(name.size(), 60u);
  }
}

}  // namespace
}  // namespace hodei::core::spec_test
