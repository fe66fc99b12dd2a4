#include "src/cli/job/job_file.h"

#include <google/protobuf/util/message_differencer.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hodei/v1/job_service.pb.h"
#include "src/cli/documents/document.h"
#include "src/cli/documents/message_text.h"

namespace hodei::cli::job_file_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::string& text) {
  v1::QueueJobRequest request;
  return std::string(read_job(text, "job.yaml", request).message());
}

TEST(JobFile, ReadsAWholeSpecFromYaml) {
  v1::QueueJobRequest request;
  ASSERT_TRUE(read_job(R"(
name: build
command:
  script:
    interpreter: bash
    content: |
      echo one
      echo two
env: {PORT: 8080, EMPTY: ""}
timeout_ms: 30000
max_attempts: 3
resources: {cpu_cores: 0.5, gpu_required: true}
constraints:
  labels:
    - {key: zone, operator: In, values: [a, b]}
preferences: {priority: high, allow_retry: false}
)",
                       "job.yaml", request)
                  .ok());
  const v1::JobSpec& spec = request.spec();
  EXPECT_EQ(spec.command().script().content(), "echo one\necho two\n");
  EXPECT_EQ(spec.env().at("PORT"), "8080");
  EXPECT_EQ(spec.timeout_ms(), 30000);
  EXPECT_EQ(spec.resources().cpu_cores(), 0.5);
  EXPECT_TRUE(spec.resources().gpu_required());
  EXPECT_EQ(spec.constraints().labels(0).operator_(), v1::LabelRule::In);
  EXPECT_EQ(spec.preferences().priority(), v1::Preferences::high);
  EXPECT_TRUE(spec.preferences().has_allow_retry());
}

TEST(JobFile, ReadsJson) {
  v1::QueueJobRequest request;
  ASSERT_TRUE(
      read_job(
          "{\n\t\"command\": {\"shell\": {\"cmd\": \"echo\", \"args\": [\"a\\n\\u00e9\"]}},\n\t\"timeout_ms\": \"5\"}",
          "job.json", request)
          .ok());
  EXPECT_EQ(request.spec().command().shell().args(0), "a\né");
  EXPECT_EQ(request.spec().timeout_ms(), 5);
}

TEST(JobFile, ReadsTheTwoHalvesOfACharacterInJson) {
  v1::QueueJobRequest request;
  const absl::Status read = read_job(
      R"({"command": {"shell": {"cmd": "\ud83d\ude80", "args": ["\\ud83d\\ude80", "\u00e9"]}}})", "job.json", request);
  ASSERT_EQ(read.message(), "");
  EXPECT_EQ(request.spec().command().shell().cmd(), "\U0001f680");
  EXPECT_EQ(request.spec().command().shell().args(0), "\\ud83d\\ude80") << "an escaped backslash begins no escape";
  EXPECT_FALSE(read_job(R"({"command": {"shell": {"cmd": "\ud83d"}}})", "job.json", request).ok()) << "a half";
  v1::QueueJobRequest yaml;
  ASSERT_EQ(read_job("command: {shell: {cmd: '\\ud83d\\ude80'}}", "job.yaml", yaml).message(), "");
  EXPECT_EQ(yaml.spec().command().shell().cmd(), "\\ud83d\\ude80") << "no escape in YAML's single quotes";
}

TEST(JobFile, MayHoldAWholeRequest) {
  v1::QueueJobRequest request;
  ASSERT_TRUE(read_job("template: greet\nparameters: {who: you}\nspec: {name: x}\n", "job.yaml", request).ok());
  EXPECT_EQ(request.template_(), "greet");
  EXPECT_EQ(request.parameters().at("who"), "you");
  EXPECT_EQ(request.spec().name(), "x");
}

TEST(JobFile, TakesAmountsAsPeopleWriteThem) {
  v1::QueueJobRequest request;
  const absl::Status read = read_job(R"(
command: {shell: {cmd: x}}
timeout: 5m
kill_grace: 1500ms
resources: {memory: 2Gi, cpu: 500m, storage: 512Mi}
backoff: {initial: 1s, max: 1w}
logs: {max_bytes: 10Mi}
)",
                                     "job.yaml", request);
  ASSERT_EQ(read.message(), "");
  const v1::JobSpec& spec = request.spec();
  EXPECT_EQ(spec.timeout_ms(), 300'000);
  EXPECT_EQ(spec.kill_grace_ms(), 1500);
  EXPECT_EQ(spec.resources().memory_mb(), 2048);
  EXPECT_EQ(spec.resources().cpu_cores(), 0.5);
  EXPECT_EQ(spec.resources().storage_mb(), 512);
  EXPECT_EQ(spec.backoff().initial_ms(), 1000);
  EXPECT_EQ(spec.backoff().max_ms(), int64_t{7} * 24 * 3600 * 1000);
  EXPECT_EQ(spec.logs().max_bytes(), 10 << 20);

  v1::QueueJobRequest top;
  ASSERT_EQ(read_job("command: {shell: {cmd: x}}\nmemory: 2Gi\ncpu: 1.5\n", "job.yaml", top).message(), "");
  EXPECT_EQ(top.spec().resources().memory_mb(), 2048);
  EXPECT_EQ(top.spec().resources().cpu_cores(), 1.5);
}

TEST(JobFile, SaysWhatIsWrongWithAnAmount) {
  EXPECT_EQ(error_of("timeout: soon\n"),
            "job.yaml:1: timeout: 'soon' is not a duration; write 500ms, 30s, 5m, 1h30m, 2d or 1w");
  EXPECT_THAT(error_of("timeout: 30\n"), HasSubstr("timeout: '30' has no unit"));
  EXPECT_THAT(error_of("resources: {memory: 512}\n"), HasSubstr("resources.memory: '512' is 512 bytes"));
  EXPECT_EQ(error_of("timeout_ms: 5m\n"),
            "job.yaml:1: timeout_ms: must be a whole number, not '5m'; write `timeout: 5m`");
  EXPECT_EQ(error_of("timeout: 5m\ntimeout_ms: 5\n"),
            "job.yaml:1: timeout: give either 'timeout' or 'timeout_ms', not both");
  EXPECT_THAT(error_of("memory: 1Gi\nresources: {memory_mb: 5}\n"),
              HasSubstr("give either 'memory' or 'resources.memory_mb', not both"));
}

TEST(JobFile, MayHoldSeveralJobs) {
  const auto names = [](const std::string& text, const std::string& name) {
    std::string out;
    const auto jobs = read_jobs(text, name);
    if (!jobs.ok()) return std::string(jobs.status().message());
    for (const v1::QueueJobRequest& job : *jobs) out += job.spec().name() + " ";
    return out;
  };
  EXPECT_EQ(names("name: a\n---\nname: b\n---\n", "jobs.yaml"), "a b ");
  EXPECT_EQ(names("- name: a\n- name: b\n", "jobs.yaml"), "a b ");
  EXPECT_EQ(names("{\"name\": \"a\"}\n\n{\"name\": \"b\"}\n", "jobs.jsonl"), "a b ");
  EXPECT_EQ(names("{\"name\": \"a\"}\n---\n{\"name\": \"b\"}\n", "jobs.yaml"), "a b ");
  EXPECT_EQ(names("[{\"name\": \"a\"}, {\"name\": \"b\"}]", "jobs.json"), "a b ");
  EXPECT_EQ(names("{\n\"name\":\n\"one\"}", "job.json"), "one ");
  EXPECT_EQ(names("name: a\n---\nnmae: b\n", "jobs.yaml"), "jobs.yaml:3: unknown field 'nmae'; did you mean 'name'?");
  EXPECT_EQ(names("{\"name\": \"a\"}\r\n{\"name\": \"b\"}\r\n", "jobs.jsonl"), "a b ");
  EXPECT_EQ(names("{\"name\": \"a\"}\n{\"nmae\": \"b\"}\n", "jobs.jsonl"),
            "jobs.jsonl:2: unknown field 'nmae'; did you mean 'name'?");
  EXPECT_THAT(names("---\n---\n", "jobs.yaml"), HasSubstr("is empty"));
}

TEST(JobFile, TakesAJobAsItWasPrinted) {
  v1::Job job;
  job.set_id("8f3a");
  job.set_short_id("j1");
  job.set_namespace_("team");
  job.set_state(v1::Job::Failed);
  job.mutable_created_at()->set_seconds(1'700'000'000);
  job.add_executions()->set_id("j1.1");
  v1::JobSpec& spec = *job.mutable_spec();
  spec.set_name("nightly");
  spec.mutable_command()->mutable_shell()->set_cmd("true");
  spec.mutable_sandbox();
  spec.set_timeout_ms(5000);
  v1::JobSpec wanted = spec;
  spec.set_idempotency_key("cli-1");
  for (const TextForm form : {TextForm::Yaml, TextForm::Json}) {
    v1::QueueJobRequest again;
    ASSERT_EQ(read_job(message_text(job, form), "job.yaml", again).message(), "");
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(again.spec(), wanted)) << again.DebugString();
    EXPECT_EQ(again.namespace_(), "team");
  }
  EXPECT_THAT(error_of("short_id: j1\nstate: Failed\n"), HasSubstr("spec: is missing"));
}

TEST(JobFile, NamesAnUnknownFieldItsLineAndWhatWasMeant) {
  EXPECT_EQ(error_of("name: x\ntimout_ms: 5\n"), "job.yaml:2: unknown field 'timout_ms'; did you mean 'timeout_ms'?");
  EXPECT_EQ(error_of("constraints:\n  labels:\n    - key: zone\n      operatr: In\n"),
            "job.yaml:4: unknown field 'constraints.labels[0].operatr'; did you mean 'operator'?");
  EXPECT_THAT(error_of("zzzzzz: 1\n"), HasSubstr("JobSpec has name, command, image"));
}

TEST(JobFile, NamesAWrongTypeAndWhatItShouldBe) {
  EXPECT_EQ(error_of("timeout_ms: soon\n"), "job.yaml:1: timeout_ms: must be a whole number, not 'soon'");
  EXPECT_EQ(error_of("timeout_ms: 1.5\n"), "job.yaml:1: timeout_ms: must be a whole number, not '1.5'");
  EXPECT_EQ(error_of("command: ls\n"), "job.yaml:1: command: must be a mapping of fields, not 'ls'");
  EXPECT_EQ(error_of("env: [a]\n"), "job.yaml:1: env: must be a mapping of names to values, not a list");
  EXPECT_EQ(error_of("command: {shell: {cmd: a, args: b}}\n"),
            "job.yaml:1: command.shell.args: must be a list, not 'b'");
  EXPECT_EQ(error_of("resources: {gpu_required: 1}\n"),
            "job.yaml:1: resources.gpu_required: must be true or false, not '1'");
  EXPECT_EQ(error_of("max_attempts: 99999999999\n"), "job.yaml:1: max_attempts: 99999999999 is out of range");
  EXPECT_EQ(error_of("preferences: {priority: hgih}\n"),
            "job.yaml:1: preferences.priority: 'hgih' is not one of low, normal, high, critical; did you mean 'high'?");
  EXPECT_THAT(error_of("preferences: {priority: PRIORITY_UNSPECIFIED}\n"), HasSubstr("is not one of"));
}

TEST(JobFile, RefusesWhatMakesNoSense) {
  EXPECT_EQ(error_of("name: x\ntimeout_ms: -5\n"), "job.yaml:2: timeout_ms: must not be negative; 0 means no limit");
  EXPECT_THAT(error_of("command:\n  shell: {cmd: a}\n  script: {content: b}\n"),
              HasSubstr("either 'shell' or 'script', not both"));
  EXPECT_EQ(error_of("name: a\nname: b\n"), "job.yaml:2: 'name' is given twice");
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("- a\n"), HasSubstr("the file: must be a mapping of fields, not 'a'"));
}

TEST(JobFile, IsNotATrap) {
  EXPECT_THAT(error_of("a: &x [1]\nb: *x\n"), HasSubstr("anchors (&name) are not allowed"));
  EXPECT_THAT(error_of(std::string(200, '[')), StartsWith("job.yaml:1"));
  EXPECT_THAT(error_of(std::string(kLargestJobsFile + 1, ' ')), HasSubstr("larger than"));
  EXPECT_THAT(error_of("name: a\n---\nname: b\n"), HasSubstr("contains 2 jobs"));
  EXPECT_THAT(error_of("name: [a\n"), StartsWith("job.yaml:"));
  EXPECT_THAT(error_of("name: \"\\"), StartsWith("job.yaml:"));
}

TEST(TemplateFile, NeedsASpecAndReadsItsParameters) {
  v1::Template out;
  EXPECT_THAT(std::string(read_template("name: x\n", "t.yaml", out).message()), HasSubstr("spec: is missing"));
  ASSERT_TRUE(read_template("name: greet\nparameters:\n  - {name: who, default_value: you}\n  - name: how\n"
                            "spec: {command: {shell: {cmd: echo, args: ['${who}']}}}\n",
                            "t.yaml", out)
                  .ok());
  EXPECT_TRUE(out.parameters(0).has_default_value());
  EXPECT_FALSE(out.parameters(1).has_default_value());
}

TEST(MessageText, PrintsFieldNamesNumbersAndTimes) {
  v1::Job job;
  job.set_short_id("j1");
  job.set_state(v1::Job::Succeeded);
  job.set_exit_code(0);
  job.mutable_created_at()->set_seconds(1'700'000'000);
  const std::string json = message_text(job, TextForm::Json);
  EXPECT_THAT(json, HasSubstr("\"short_id\": \"j1\""));
  EXPECT_THAT(json, HasSubstr("\"state\": \"Succeeded\""));
  EXPECT_THAT(json, HasSubstr("\"exit_code\": 0"));
  EXPECT_THAT(json, HasSubstr("\"attempts\": 0"));
  EXPECT_THAT(json, HasSubstr("\"created_at\": \"2023-11-14T22:13:20.000Z\""));
  EXPECT_THAT(json, testing::Not(HasSubstr("ended_at")));
  EXPECT_THAT(message_text(job, TextForm::Yaml), HasSubstr("state: Succeeded\n"));
}

TEST(MessageText, ASpecPrintsAsAJobFileThatReadsBack) {
  v1::QueueJobRequest first;
  v1::JobSpec& spec = *first.mutable_spec();
  spec.set_name("yes");
  spec.mutable_command()->mutable_script()->set_content("#!/bin/bash\necho 'a: b'\n\n  indented\n");
  spec.mutable_command()->mutable_script()->add_args("- x");
  spec.mutable_command()->mutable_script()->add_args("");
  spec.mutable_command()->mutable_script()->add_args("123");
  (*spec.mutable_env())["A"] = "x\ty\"\n";
  (*spec.mutable_env())["null"] = "~";
  spec.mutable_constraints()->add_labels()->set_operator_(v1::LabelRule::Exists);
  spec.set_timeout_ms(int64_t{1} << 53);
  for (TextForm form : {TextForm::Yaml, TextForm::Json}) {
    const std::string text = message_text(spec, form);
    v1::QueueJobRequest second;
    ASSERT_EQ(read_job(text, "job.yaml", second).message(), "") << text;
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(second.spec(), spec)) << text;
  }
}

TEST(JobFile, HasABoundForTheKeysOfAMapping) {
  std::string text = "env:\n";
  for (int i = 0; i < 10'001; ++i) text += "  k" + std::to_string(i) + ": v\n";
  v1::QueueJobRequest request;
  EXPECT_NE(read_job(text, "job.yaml", request).message().find("more than 10000 keys"), std::string::npos);
}

// The parser finds an empty document at such a sign for ever.
TEST(JobFile, EndsWhereTheParserDoesNotGetOn) {
  for (const char* text : {",-1", "]", "}", "a: 1\n---\n,"}) {
    v1::QueueJobRequest request;
    EXPECT_FALSE(read_job(text, "job.yaml", request).ok()) << text;
  }
}

}  // namespace
}  // namespace hodei::cli::job_file_test
