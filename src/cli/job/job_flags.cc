#include "src/cli/job/job_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/documents/document.h"
#include "src/cli/flags/flag_values.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/job/job_file.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"
#include "src/cli/text/utf8.h"

namespace hodei::cli {
namespace {

constexpr int64_t kMostAttempts = 1000;

template <class T>
absl::StatusOr<T> named(std::string_view flag, absl::StatusOr<T> value) {
  if (value.ok()) return value;
  return absl::Status(value.status().code(), cat(flag, ": ", std::string(value.status().message())));
}

absl::StatusOr<std::string> read_input(const std::string& path, const Surroundings& io, size_t largest) {
  return path == "-" ? io.read_stdin() : read_small_file(path, largest);
}

// What is read from files and standard input, once for all jobs of the call.
struct GivenOnce {
  std::string script;
  v1::JobSpec secrets;  // nothing else of it is set
};

absl::Status set_times(const JobFlags& flags, v1::JobSpec& spec) {
  if (!flags.timeout.empty()) {
    ASSIGN_OR_RETURN(const int64_t ms, named("--timeout (timeout_ms)", parse_milliseconds(flags.timeout)));
    spec.set_timeout_ms(ms);
  }
  if (!flags.kill_grace.empty()) {
    ASSIGN_OR_RETURN(const int64_t ms, named("--kill-grace (kill_grace_ms)", parse_milliseconds(flags.kill_grace)));
    spec.set_kill_grace_ms(ms);
  }
  if (!flags.attempts.empty()) {
    ASSIGN_OR_RETURN(const int64_t n,
                     named("--attempts (max_attempts)", parse_count(flags.attempts, 1, kMostAttempts)));
    spec.set_max_attempts(static_cast<int32_t>(n));
  }
  return absl::OkStatus();
}

absl::Status set_environment(const JobFlags& flags, const Surroundings& io, v1::JobSpec& spec) {
  for (const std::string& text : flags.env) {
    if (text.find('=') != std::string::npos) {
      ASSIGN_OR_RETURN(const KeyValue pair, parse_key_value("--env", text));
      (*spec.mutable_env())[pair.key] = pair.value;
      continue;
    }
    // `--env NAME` passes our own on, if there is one.
    if (text.empty()) return bad_field("--env", "must be NAME=VALUE, or NAME to pass on your own value");
    if (const std::optional<std::string> value = io.env(text)) (*spec.mutable_env())[text] = *value;
  }
  for (const std::string& text : flags.labels) {
    ASSIGN_OR_RETURN(const KeyValue pair, parse_key_value("--label", text));
    (*spec.mutable_labels())[pair.key] = pair.value;
  }
  return absl::OkStatus();
}

absl::Status set_resources(const JobFlags& flags, v1::JobSpec& spec) {
  RETURN_IF_ERROR(set_limits(flags.limits, spec));
  if (!flags.architecture.empty()) spec.mutable_resources()->set_architecture(flags.architecture);
  if (flags.gpu) spec.mutable_resources()->set_gpu_required(true);
  return absl::OkStatus();
}

absl::Status set_placement(const JobFlags& flags, v1::JobSpec& spec) {
  for (const std::string& text : flags.constraints) {
    ASSIGN_OR_RETURN(v1::LabelRule rule, parse_label_rule(text));
    *spec.mutable_constraints()->add_labels() = std::move(rule);
  }
  for (const std::string& text : flags.capabilities) spec.mutable_constraints()->add_capabilities(text);
  for (const std::string& text : flags.tolerations) {
    v1::Toleration& toleration = *spec.mutable_constraints()->add_tolerations();
    const size_t equals = text.find('=');
    toleration.set_key(text.substr(0, equals));
    if (equals != std::string::npos) toleration.set_value(text.substr(equals + 1));
  }
  RETURN_IF_ERROR(set_placement_flags(flags.placement, spec));
  if (!flags.pool.empty()) spec.mutable_constraints()->set_pool(flags.pool);
  if (!flags.provider.empty()) spec.mutable_constraints()->set_provider(flags.provider);
  if (!flags.zone.empty()) spec.mutable_preferences()->set_preferred_zone(flags.zone);
  if (!flags.region.empty()) spec.mutable_preferences()->set_preferred_region(flags.region);
  if (!flags.priority.empty()) {
    v1::Preferences::Priority priority{};
    if (!v1::Preferences::Priority_Parse(flags.priority, &priority) || priority == 0) {
      return bad_field("--priority", "'", flags.priority, "' is not one of low, normal, high, critical",
                       did_you_mean(flags.priority, {"low", "normal", "high", "critical"}));
    }
    spec.mutable_preferences()->set_priority(priority);
  }
  if (!flags.concurrency_key.empty()) spec.mutable_concurrency()->set_key(flags.concurrency_key);
  if (!flags.concurrency_limit.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, named("--concurrency-limit", parse_count(flags.concurrency_limit, 1, INT32_MAX)));
    spec.mutable_concurrency()->set_limit(static_cast<int32_t>(n));
  }
  if (!flags.concurrency_limit.empty() && spec.concurrency().key().empty()) {
    return bad_field("--concurrency-limit", "requires --concurrency-key");
  }
  return absl::OkStatus();
}

absl::Status set_command(const JobFlags& flags, const std::vector<std::string>& program, const GivenOnce& once,
                         v1::JobSpec& spec) {
  if (!flags.script.empty()) {
    v1::ScriptCommand& script = *spec.mutable_command()->mutable_script();
    script.set_content(once.script);
    script.clear_args();
    for (const std::string& arg : program) script.add_args(arg);
  } else if (!program.empty() && spec.command().has_script()) {
    v1::ScriptCommand& script = *spec.mutable_command()->mutable_script();
    script.clear_args();
    for (const std::string& arg : program) script.add_args(arg);
  } else if (!program.empty()) {
    v1::ShellCommand& shell = *spec.mutable_command()->mutable_shell();
    shell.set_cmd(program[0]);
    shell.clear_args();
    for (size_t i = 1; i < program.size(); ++i) shell.add_args(program[i]);
  }
  if (!flags.interpreter.empty() || flags.no_safety_header) {
    if (!spec.command().has_script()) return bad_field("--interpreter", "requires --script FILE");
    v1::ScriptCommand& script = *spec.mutable_command()->mutable_script();
    if (!flags.interpreter.empty()) script.set_interpreter(flags.interpreter);
    if (flags.no_safety_header) script.set_no_safety_header(true);
  }
  return absl::OkStatus();
}

absl::Status apply(const JobFlags& flags, const std::vector<std::string>& program, const Surroundings& io,
                   const GivenOnce& once, v1::QueueJobRequest& request) {
  if (!flags.template_name.empty()) request.set_template_(flags.template_name);
  for (const std::string& text : flags.params) {
    ASSIGN_OR_RETURN(const KeyValue pair, parse_key_value("--param", text));
    (*request.mutable_parameters())[pair.key] = pair.value;
  }
  if (request.template_().empty() && request.parameters_size() > 0) {
    return bad_field("--param", "requires --template");
  }
  v1::JobSpec& spec = *request.mutable_spec();
  if (!flags.name.empty()) spec.set_name(flags.name);
  if (!flags.workdir.empty()) spec.set_working_dir(flags.workdir);
  if (!flags.image.empty()) spec.set_image(flags.image);
  RETURN_IF_ERROR(set_times(flags, spec));
  RETURN_IF_ERROR(set_environment(flags, io, spec));
  RETURN_IF_ERROR(set_resources(flags, spec));
  RETURN_IF_ERROR(set_placement(flags, spec));
  RETURN_IF_ERROR(set_output(flags.output, spec));
  RETURN_IF_ERROR(set_command(flags, program, once, spec));
  merge_secrets(once.secrets, spec);
  RETURN_IF_ERROR(set_artifacts(flags.artifacts, spec));
  if (request.template_().empty() && spec.command().kind_case() == v1::Command::KIND_NOT_SET) {
    return absl::InvalidArgumentError(
        "command: nothing to run\nput a command after `--` (hodei run -- echo hello), or use --script, --file or "
        "--template");
  }
  if (!flags.idempotency_key.empty()) spec.set_idempotency_key(flags.idempotency_key);
  if (spec.idempotency_key().empty()) spec.set_idempotency_key(cat("cli-", random_id()));
  if (flags.allow_other_spec) request.set_allow_other_spec(true);
  return check_utf8(request);
}

}  // namespace

void add_job_flags(CLI::App& command, JobFlags& f) {
  command.add_option("--name", f.name, "a name, to recognize the job by")->type_name("NAME");
  repeatable(command, "-e,--env", f.env, "NAME=VALUE, or NAME to pass on your own value")->type_name("NAME[=VALUE]");
  command.add_option("--timeout", f.timeout, "stop each execution after this long: 30s, 5m, 1h30m")->type_name("TIME");
  command.add_option("--kill-grace", f.kill_grace, "time from SIGTERM to SIGKILL on cancel and timeout")
      ->type_name("TIME");
  command.add_option("--attempts", f.attempts, "start it at most this many times")->type_name("N");
  command.add_option("--priority", f.priority, "low, normal, high or critical")->type_name("CLASS");
  repeatable(command, "-l,--label", f.labels, "a label, to filter by")->type_name("KEY=VALUE");
  command.add_option("-w,--workdir", f.workdir, "working folder on the worker, an absolute path")->type_name("DIR");
  command.add_option("--script", f.script, "run this script (- for standard input); its arguments follow --")
      ->type_name("FILE");
  command.add_option("--interpreter", f.interpreter, "interpreter of the script: bash, sh, python3, …")
      ->type_name("PROGRAM");
  command.add_flag("--no-safety-header", f.no_safety_header, "run the script without `set -euo pipefail`");
  command.add_option("--image", f.image, "run only on a worker created from this image")->type_name("IMAGE");
  command.add_option("--provider", f.provider, "run only on a worker from this provider")->type_name("PROVIDER");
  command.add_option("--pool", f.pool, "run only on a worker in this pool")->type_name("POOL");
  command.add_option("--zone", f.zone, "prefer workers in this zone")->type_name("ZONE");
  command.add_option("--region", f.region, "prefer workers in this region")->type_name("REGION");
  repeatable(command, "--constraint", f.constraints,
             "labels that the worker must have: 'zone In (a,b)', 'cores Gt 4', 'gpu Exists'")
      ->type_name("RULE");
  repeatable(command, "--capability", f.capabilities, "a capability that the worker must have")->type_name("NAME");
  repeatable(command, "--toleration", f.tolerations, "a taint that this job tolerates")->type_name("KEY[=VALUE]");
  add_placement_flags(command, f.placement);
  add_limit_flags(command, f.limits);
  command.add_option("--arch", f.architecture, "architecture, as printed by `uname -m`")->type_name("ARCH");
  command.add_flag("--gpu", f.gpu, "run only on a worker with a GPU");
  add_output_flags(command, f.output);
  add_secret_flags(command, f.secrets);
  command.add_option("--concurrency-key", f.concurrency_key, "share a limit with other jobs that have this key")
      ->type_name("KEY");
  command.add_option("--concurrency-limit", f.concurrency_limit, "how many jobs with this key may run at once")
      ->type_name("N");
  command.add_flag("--allow-other-spec", f.allow_other_spec,
                   "if --idempotency-key is already known, return its job even if this one differs");
  command
      .add_option("--idempotency-key", f.idempotency_key,
                  "submitting again with this key within 24 h returns the same job")
      ->type_name("KEY");
  command.add_option("-f,--file", f.file, "a job file in YAML or JSON (- for standard input); flags override it")
      ->type_name("JOB.yaml");
  command.add_flag("--dry-run", f.dry_run, "queue nothing; show where the job would run, or why it would wait");
  add_artifact_flags(command, f.artifacts);
  command.add_option("-t,--template", f.template_name, "create the job from this template")->type_name("NAME");
  repeatable(command, "-p,--param", f.params, "a parameter of the template")->type_name("KEY=VALUE");
  refuse_empty_values(command);
}

absl::StatusOr<v1::QueueJobRequest> make_request(const JobFlags& flags, const std::vector<std::string>& program,
                                                 const Surroundings& io) {
  ASSIGN_OR_RETURN(std::vector<v1::QueueJobRequest> requests, make_requests(flags, program, io));
  if (requests.size() > 1) {
    return bad_field("--file", flags.file, " contains ", requests.size(),
                     " jobs, but this command takes one; submit them with `hodei job submit --file ", flags.file, "`");
  }
  return std::move(requests[0]);
}

absl::StatusOr<std::vector<v1::QueueJobRequest>> make_requests(const JobFlags& flags,
                                                               const std::vector<std::string>& program,
                                                               const Surroundings& io) {
  std::vector<v1::QueueJobRequest> requests(1);
  if (!flags.file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_input(flags.file, io, kLargestJobsFile));
    ASSIGN_OR_RETURN(requests, read_jobs(text, flags.file == "-" ? "standard input" : flags.file));
  }
  if (requests.size() > 1 && !flags.idempotency_key.empty()) {
    return bad_field("--idempotency-key", "is for one job, and ", flags.file, " contains ", requests.size(),
                     "; set idempotency_key for each in the file");
  }
  GivenOnce once;
  if (!flags.script.empty()) {
    ASSIGN_OR_RETURN(once.script, read_input(flags.script, io, kLargestDocument));
  }
  RETURN_IF_ERROR(set_secrets(flags.secrets, io, once.secrets));
  for (v1::QueueJobRequest& request : requests) RETURN_IF_ERROR(apply(flags, program, io, once, request));
  return requests;
}

}  // namespace hodei::cli
