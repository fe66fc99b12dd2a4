#include "src/core/jobs/spec.h"

#include <algorithm>
#include <set>

#include "src/base/clip.h"
#include "src/base/finite.h"
#include "src/base/status.h"
#include "src/base/trace.h"
#include "src/core/placement/rules/labels.h"

namespace hodei::core {
namespace {

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

absl::Status check_range(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return bad_field(field, "must be between ", low, " and ", high, ", not ", value);
}

absl::Status check_env(const JobSpec& spec) {
  if (spec.env.size() > kMaxEnv)
    return bad_field("env", "must have at most ", kMaxEnv, " variables, not ", spec.env.size());
  for (const auto& [key, value] : spec.env) {
    if (key.empty()) return bad_field("env", "variable names must not be empty");
    if (key.find('=') != std::string::npos || has_nul(key) || has_nul(value)) {
      return bad_field(cat("env.", key),
                       "names must not contain '=', and neither names nor values may contain a NUL byte");
    }
    if (key.starts_with("HODEI_")) return bad_field(cat("env.", key), "names starting with HODEI_ are reserved");
  }
  return absl::OkStatus();
}

absl::Status check_args(std::string_view field, const std::vector<std::string>& args) {
  if (args.size() > kMaxArgs) return bad_field(field, "at most ", kMaxArgs, " arguments");
  for (const std::string& arg : args) {
    if (has_nul(arg)) return bad_field(field, "must not contain a NUL byte");
  }
  return absl::OkStatus();
}

absl::Status check_command(const JobSpec& spec) {
  if (std::holds_alternative<std::monostate>(spec.command)) {
    return bad_field("command", "is required; set command.shell.cmd or command.script.content");
  }
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) {
    if (shell->cmd.empty()) return bad_field("command.shell.cmd", "must not be empty");
    if (has_nul(shell->cmd)) return bad_field("command.shell.cmd", "must not contain a NUL byte");
    return check_args("command.shell.args", shell->args);
  }
  const auto& script = std::get<ScriptCommand>(spec.command);
  if (script.content.empty()) return bad_field("command.script.content", "must not be empty");
  // Its first line may name the program that runs it.
  if (has_nul(script.content)) return bad_field("command.script.content", "must not contain a NUL byte");
  if (has_nul(script.interpreter)) return bad_field("command.script.interpreter", "must not contain a NUL byte");
  return check_args("command.script.args", script.args);
}

absl::Status check_labels(const JobSpec& spec) {
  if (spec.labels.size() > kMaxLabels)
    return bad_field("labels", "must have at most ", kMaxLabels, " labels, not ", spec.labels.size());
  for (const auto& [key, value] : spec.labels) {
    if (key.empty() || key.size() > kMaxLabelKey || value.size() > kMaxLabelValue) {
      return bad_field("labels", "keys must have 1 to ", kMaxLabelKey, " characters and values at most ",
                       kMaxLabelValue);
    }
  }
  return absl::OkStatus();
}

absl::Status check_length(std::string_view field, std::string_view text, size_t most) {
  if (text.size() <= most) return absl::OkStatus();
  return bad_field(field, "must have at most ", most, " characters, not ", text.size());
}

absl::Status check_tolerations(const Shape& shape) {
  if (shape.tolerations.size() > kMaxTolerations) {
    return bad_field("constraints.tolerations", "must have at most ", kMaxTolerations, " entries, not ",
                     shape.tolerations.size());
  }
  for (size_t i = 0; i < shape.tolerations.size(); ++i) {
    const std::string field = cat("constraints.tolerations[", i, "]");
    RETURN_IF_ERROR(check_length(field + ".key", shape.tolerations[i].key, kMaxLabelKey));
    RETURN_IF_ERROR(check_length(field + ".value", shape.tolerations[i].value, kMaxLabelValue));
  }
  return absl::OkStatus();
}

absl::Status check_preferences(const Shape& shape) {
  RETURN_IF_ERROR(check_length("resources.architecture", shape.architecture, kMaxNameLength));
  RETURN_IF_ERROR(check_length("preferences.preferred_provider", shape.preferred_provider, kMaxNameLength));
  RETURN_IF_ERROR(check_length("preferences.preferred_region", shape.preferred_region, kMaxLabelValue));
  if (shape.prefers.size() > kMaxLabels) {
    return bad_field("preferences.labels", "at most ", kMaxLabels, " of them, not ", shape.prefers.size());
  }
  for (size_t i = 0; i < shape.prefers.size(); ++i) {
    const std::string field = cat("preferences.labels[", i, "]");
    RETURN_IF_ERROR(check_rule(shape.prefers[i].rule, field + ".rule"));
    const uint32_t weight = shape.prefers[i].weight;
    if (weight == 0 || weight > kMaxPreferenceWeight) {
      return bad_field(field + ".weight", "must be from 1 to ", kMaxPreferenceWeight);
    }
  }
  return check_length("preferences.preferred_zone", shape.preferred_zone, kMaxLabelValue);
}

absl::Status check_constraints(const JobSpec& spec) {
  const Shape& shape = spec.shape;
  if (shape.labels.size() > kMaxLabels)
    return bad_field("constraints.labels", "must have at most ", kMaxLabels, " expressions");
  for (size_t i = 0; i < shape.labels.size(); ++i) {
    RETURN_IF_ERROR(check_rule(shape.labels[i], cat("constraints.labels[", i, "]")));
  }
  if (shape.affinity.size() > kMaxAffinityRules)
    return bad_field("constraints.affinity", "must have at most ", kMaxAffinityRules, " rules");
  for (size_t i = 0; i < shape.affinity.size(); ++i) {
    RETURN_IF_ERROR(check_rule(shape.affinity[i].rule, cat("constraints.affinity[", i, "].rule")));
  }
  if (shape.isolation > Isolation::Hardware) {
    return bad_field("constraints.isolation", "must be one of process, container, hardware");
  }
  if (!shape.pool.empty()) RETURN_IF_ERROR(check_name("constraints.pool", shape.pool));
  if (!shape.provider.empty()) RETURN_IF_ERROR(check_name("constraints.provider", shape.provider));
  if (shape.capabilities.size() > kMaxCapabilities) {
    return bad_field("constraints.capabilities", "must have at most ", kMaxCapabilities, " entries, not ",
                     shape.capabilities.size());
  }
  for (const std::string& c : shape.capabilities) RETURN_IF_ERROR(check_name("constraints.capabilities", c));
  if (shape.image.size() > 500 || has_nul(shape.image))
    return bad_field("image", "must have at most 500 characters and no NUL byte");
  if (shape.image.starts_with('-')) return bad_field("image", "must not start with '-'");
  RETURN_IF_ERROR(check_tolerations(shape));
  RETURN_IF_ERROR(check_preferences(shape));
  if (const size_t size = encode(shape).size(); size > kMaxShapeBytes) {
    return bad_field("constraints", "rules, tolerations and preferences take ", size, " bytes; at most ",
                     kMaxShapeBytes, " are allowed; use fewer or shorter values");
  }
  return absl::OkStatus();
}

absl::Status check_amounts(const JobSpec& spec) {
  RETURN_IF_ERROR(check_range("resources.cpu_milli", spec.cpu_milli, 0, kMaxCpuMilli));
  RETURN_IF_ERROR(check_range("resources.memory_mb", spec.memory_mb, 0, int64_t{1} << 40));
  RETURN_IF_ERROR(check_range("resources.storage_mb", spec.storage_mb, 0, int64_t{1} << 40));
  RETURN_IF_ERROR(check_range("resources.pids", spec.pids, 0, kMaxPids));
  RETURN_IF_ERROR(check_range("resources.io_weight", spec.io_weight, 0, kMaxIoWeight));
  RETURN_IF_ERROR(check_range("timeout_ms", spec.timeout_ms, 0, kMaxTimeoutMs));
  RETURN_IF_ERROR(check_range("max_attempts", spec.max_attempts, 0, kMaxAttempts));
  RETURN_IF_ERROR(check_range("backoff.initial_ms", spec.backoff_initial_ms, 0, kMaxTimeoutMs));
  RETURN_IF_ERROR(check_range("backoff.max_ms", spec.backoff_max_ms, 0, kMaxTimeoutMs));
  RETURN_IF_ERROR(check_range("kill_grace_ms", spec.kill_grace_ms, 0, 3600 * 1000));
  if (spec.backoff_factor == 0) return absl::OkStatus();
  return check_within("backoff.factor", spec.backoff_factor, 1, kMaxBackoffFactor, " (0: the default of 2)");
}

// As /etc/passwd has it: what stands between two colons.
absl::Status check_sandbox(const JobSpec& spec) {
  if (spec.sandbox_user.size() > kMaxUserLength) {
    return bad_field("sandbox.user", "has at most ", kMaxUserLength, " characters");
  }
  for (const char c : spec.sandbox_user) {
    if (c <= ' ' || c == ':' || c == '/' || c == 127) {
      return bad_field("sandbox.user",
                       "must be the name or number of a user on the worker, without spaces, ':' or '/'");
    }
  }
  return absl::OkStatus();
}

absl::Status check_secrets(const JobSpec& spec) {
  if (spec.secrets.size() > kMaxSecrets)
    return bad_field("secrets", "at most ", kMaxSecrets, ", not ", spec.secrets.size());
  std::set<std::string_view> seen;
  for (size_t i = 0; i < spec.secrets.size(); ++i) {
    RETURN_IF_ERROR(check_secret_name(cat("secrets[", i, "].name"), spec.secrets[i]));
    if (!seen.insert(spec.secrets[i]).second) return bad_field("secrets", "'", spec.secrets[i], "' is listed twice");
  }
  return absl::OkStatus();
}

absl::Status check_logs(const JobSpec& spec) {
  if (spec.log_policy < 0 || spec.log_policy > kMaxLogPolicy)
    return bad_field("logs.policy", "must be one of block, drop");
  RETURN_IF_ERROR(check_range("logs.max_bytes", spec.log_max_bytes, 0, kMaxLogBytes));
  return check_range("logs.max_bytes_per_second", spec.log_bytes_per_second, 0, kMaxLogBytesPerSecond);
}

absl::Status check_keys(const JobSpec& spec) {
  if (spec.idempotency_key.size() > kMaxKeyLength)
    return bad_field("idempotency_key", "has at most ", kMaxKeyLength, " characters");
  if (spec.concurrency_key.size() > kMaxKeyLength)
    return bad_field("concurrency.key", "has at most ", kMaxKeyLength, " characters");
  RETURN_IF_ERROR(check_range("concurrency.limit", spec.concurrency_limit, 0, kMaxConcurrencyLimit));
  if (spec.concurrency_key.empty() && spec.concurrency_limit != 0) {
    return bad_field("concurrency.key", "is required when concurrency.limit is set");
  }
  return absl::OkStatus();
}

absl::Status check_trace(const JobSpec& spec) {
  if (spec.traceparent.empty() || parse_traceparent(spec.traceparent)) return absl::OkStatus();
  return bad_field("traceparent",
                   "must be a W3C trace context like 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, not '",
                   clip(spec.traceparent, 80), "'; leave it empty to start a new trace");
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool climbs(std::string_view path) { return cat("/", path, "/").find("/../") != std::string::npos; }

absl::Status check_artifact(const std::string& field, const ArtifactSpec& artifact) {
  const std::string_view url = artifact.url;
  const bool known = url.starts_with("hodei:") || url.starts_with("http://") || url.starts_with("https://") ||
                     url.starts_with("file:///");
  if (!known || url.size() > kMaxUrlLength || url.ends_with(':')) {
    return bad_field(field + ".url", "must start with hodei:, http://, https:// or file:///, not '", clip(url, 100),
                     "'");
  }
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      return bad_field(field + ".url", "contains a space or a control character");
  }
  if (artifact.path.starts_with('/') || climbs(artifact.path) || has_nul(artifact.path)) {
    return bad_field(field + ".path", "must be a relative path without '..', not '", artifact.path, "'");
  }
  if (artifact.path.empty() && url.ends_with('/'))
    return bad_field(field + ".path", "is required when the URL ends with a slash");
  if (!artifact.sha256.empty() && (artifact.sha256.size() != 64 || !is_hex(artifact.sha256))) {
    return bad_field(field + ".sha256", "must be 64 hexadecimal digits, as sha256sum prints them");
  }
  if (artifact.max_bytes < 0) return bad_field(field + ".max_bytes", "must not be negative");
  return absl::OkStatus();
}

absl::Status check_artifacts(const std::string& field, const std::vector<ArtifactSpec>& artifacts) {
  if (artifacts.size() > kMaxArtifacts) return bad_field(field, "has at most ", kMaxArtifacts, " artifacts");
  for (size_t i = 0; i < artifacts.size(); ++i) {
    RETURN_IF_ERROR(check_artifact(cat(field, "[", i, "]"), artifacts[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_rule(const LabelRule& rule, const std::string& field) {
  if (rule.key.empty()) return bad_field(cat(field, ".key"), "must not be empty");
  RETURN_IF_ERROR(check_length(cat(field, ".key"), rule.key, kMaxLabelKey));
  if (rule.values.size() > kMaxRuleValues) {
    return bad_field(cat(field, ".values"), "at most ", kMaxRuleValues, " values, not ", rule.values.size());
  }
  for (const std::string& value : rule.values)
    RETURN_IF_ERROR(check_length(cat(field, ".values"), value, kMaxLabelValue));
  switch (rule.op) {
    case LabelOperator::In:
    case LabelOperator::NotIn:
      if (rule.values.empty()) return bad_field(cat(field, ".values"), "In and NotIn need at least one value");
      return absl::OkStatus();
    case LabelOperator::Exists:
    case LabelOperator::DoesNotExist:
      if (!rule.values.empty()) return bad_field(cat(field, ".values"), "Exists and DoesNotExist take no value");
      return absl::OkStatus();
    case LabelOperator::Gt:
    case LabelOperator::Lt:
      if (rule.values.size() != 1 || !whole_number(rule.values[0])) {
        return bad_field(cat(field, ".values"), "Gt and Lt take one whole number");
      }
      return absl::OkStatus();
  }
  return bad_field(cat(field, ".operator"), "must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt");
}

absl::Status check_secret_name(std::string_view field, std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  if (!name.empty() && name.size() <= kMaxNameLength && is_letter(name[0]) &&
      std::all_of(name.begin(), name.end(), may_follow)) {
    return absl::OkStatus();
  }
  return bad_field(field, "'", clip(name, 60),
                   "' is not a valid name; use letters, digits, '_', '.' and '-', not starting with a "
                   "digit, at most ",
                   kMaxNameLength, " characters");
}

absl::Status validate(const JobSpec& spec) {
  if (spec.encoded_size > kMaxSpecBytes) {
    return bad_field("spec", "is ", spec.encoded_size, " bytes long; at most ", kMaxSpecBytes, " are allowed");
  }
  if (spec.name.size() > kMaxNameLength || has_nul(spec.name) || spec.name.find('\n') != std::string::npos) {
    return bad_field("name", "has at most ", kMaxNameLength, " characters on one line");
  }
  if (!spec.working_dir.empty() && (spec.working_dir[0] != '/' || has_nul(spec.working_dir))) {
    return bad_field("working_dir", "must be an absolute path, not '", spec.working_dir, "'");
  }
  if (spec.priority < 0 || spec.priority > static_cast<int>(kPriorities)) {
    return bad_field("preferences.priority", "must be one of low, normal, high, critical");
  }
  RETURN_IF_ERROR(check_command(spec));
  RETURN_IF_ERROR(check_env(spec));
  RETURN_IF_ERROR(check_amounts(spec));
  RETURN_IF_ERROR(check_labels(spec));
  RETURN_IF_ERROR(check_constraints(spec));
  RETURN_IF_ERROR(check_sandbox(spec));
  RETURN_IF_ERROR(check_logs(spec));
  RETURN_IF_ERROR(check_secrets(spec));
  RETURN_IF_ERROR(check_trace(spec));
  RETURN_IF_ERROR(check_artifacts("inputs", spec.inputs));
  RETURN_IF_ERROR(check_artifacts("outputs", spec.outputs));
  return check_keys(spec);
}

JobHead head_of(const JobSpec& spec) {
  JobHead head;
  head.priority = spec.priority == 0 ? Priority::Normal : static_cast<Priority>(spec.priority);
  head.allow_retry = spec.allow_retry;
  head.max_attempts = spec.max_attempts == 0 ? 1 : static_cast<uint32_t>(spec.max_attempts);
  head.timeout = std::chrono::milliseconds(spec.timeout_ms);
  if (spec.kill_grace_ms > 0) head.grace = std::chrono::milliseconds(spec.kill_grace_ms);
  if (spec.backoff_initial_ms > 0) head.backoff.initial = std::chrono::milliseconds(spec.backoff_initial_ms);
  if (spec.backoff_max_ms > 0) head.backoff.max = std::chrono::milliseconds(spec.backoff_max_ms);
  if (spec.backoff_factor > 0) head.backoff.factor = spec.backoff_factor;
  head.concurrency_key = spec.concurrency_key;
  if (!spec.labels.empty()) head.labels = std::make_shared<const Labels>(spec.labels);
  if (!spec.secrets.empty()) {
    std::string names;
    for (const std::string& name : spec.secrets) names += cat(names.empty() ? "" : ", ", name);
    head.secrets = std::make_shared<const std::string>(std::move(names));
  }

  auto shape = std::make_shared<Shape>(spec.shape);
  shape->needs.cpu_milli = spec.cpu_milli;
  shape->asks = (spec.sandbox ? kSandbox : 0u) | (spec.secret_files ? kSecretFiles : 0u);
  shape->needs.memory_mb = spec.memory_mb;
  shape->needs.storage_mb = spec.storage_mb;
  shape->capabilities.push_back(std::holds_alternative<ScriptCommand>(spec.command) ? "script" : "shell");
  std::sort(shape->capabilities.begin(), shape->capabilities.end());
  shape->capabilities.erase(std::unique(shape->capabilities.begin(), shape->capabilities.end()),
                            shape->capabilities.end());
  shape->encoded = encode(*shape);
  head.shape = std::move(shape);
  return head;
}

std::string default_name(const JobSpec& spec) {
  if (!spec.name.empty()) return spec.name;
  std::string text;
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) {
    text = shell->cmd.substr(shell->cmd.rfind('/') + 1);
    for (const std::string& arg : shell->args) text += cat(" ", arg);
  } else if (const auto* script = std::get_if<ScriptCommand>(&spec.command)) {
    text = cat(script->interpreter.empty() ? "bash" : script->interpreter, " script");
  }
  constexpr size_t kShown = 60;
  text = text.substr(0, text.find('\n'));
  return text.size() <= kShown ? text : cat(clip(text, kShown - 3), "...");
}

}  // namespace hodei::core
