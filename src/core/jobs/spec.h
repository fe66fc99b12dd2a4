// A job specification in plain structs. The API translates requests into it, so that they are checked in one place.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "src/base/label_limits.h"
#include "src/core/jobs/job.h"

namespace hodei::core {

struct ShellCommand {
  std::string cmd;
  std::vector<std::string> args;
};

struct ScriptCommand {
  std::string interpreter;
  std::string content;
  std::vector<std::string> args = {};
};

struct ArtifactSpec {
  std::string url;
  std::string path;
  std::string sha256;
  int64_t max_bytes = 0;
};

struct JobSpec {
  std::string name;
  std::variant<std::monostate, ShellCommand, ScriptCommand> command;
  std::map<std::string, std::string> env;
  std::string working_dir;
  int64_t cpu_milli = 0;
  int64_t memory_mb = 0;
  int64_t storage_mb = 0;
  int64_t timeout_ms = 0;
  int64_t max_attempts = 0;
  int64_t backoff_initial_ms = 0;
  int64_t backoff_max_ms = 0;
  double backoff_factor = 0;
  int64_t kill_grace_ms = 0;
  bool allow_retry = true;
  int priority = 0;  // 0: normal
  std::string concurrency_key;
  int64_t concurrency_limit = 0;
  std::string idempotency_key;
  std::map<std::string, std::string> labels;
  int64_t pids = 0;
  int64_t io_weight = 0;
  std::vector<std::string> secrets;  // names only
  std::vector<ArtifactSpec> inputs;
  std::vector<ArtifactSpec> outputs;
  int log_policy = 0;  // 0: block
  int64_t log_max_bytes = 0;
  int64_t log_bytes_per_second = 0;
  bool sandbox = false;
  bool secret_files = false;
  std::string sandbox_user;
  std::string traceparent;
  Shape shape;  // what placement reads; `head_of` fills in the resources
  size_t encoded_size = 0;
};

// Limits of a spec, quoted in error messages and listed in docs/limits.md.
inline constexpr size_t kMaxSpecBytes = 1 << 20;
inline constexpr size_t kMaxNameLength = 200;
inline constexpr size_t kMaxLabels = 64;
inline constexpr size_t kMaxAffinityRules = 16;
inline constexpr size_t kMaxTolerations = 64;
inline constexpr size_t kMaxCapabilities = 64;
inline constexpr size_t kMaxShapeBytes = 16 << 10;  // everything placement reads, as stored
inline constexpr size_t kMaxEnv = 1024;
inline constexpr size_t kMaxArgs = 4096;
inline constexpr int64_t kMaxAttempts = 1000;
inline constexpr int64_t kMaxCpuMilli = int64_t{100'000} * 1000;
inline constexpr int64_t kMaxTimeoutMs = int64_t{366} * 24 * 3600 * 1000;
inline constexpr int64_t kMaxConcurrencyLimit = 1'000'000;
inline constexpr size_t kMaxKeyLength = 500;
inline constexpr int64_t kMaxPids = 4'194'304;  // the kernel's own limit
inline constexpr int64_t kMaxIoWeight = 1000;
inline constexpr size_t kMaxUserLength = 64;
inline constexpr int kMaxLogPolicy = 2;  // block, drop
inline constexpr int64_t kMaxLogBytes = int64_t{1} << 50;
inline constexpr int64_t kMaxLogBytesPerSecond = int64_t{1} << 40;
inline constexpr size_t kMaxSecrets = 64;            // per job
inline constexpr size_t kMaxSecretBytes = 64 << 10;  // per value, and for all values of a job together

// [A-Za-z_][A-Za-z0-9_.-]*, up to 200 characters: usable as a file name and as a JSON key.
absl::Status check_secret_name(std::string_view field, std::string_view name);
inline constexpr size_t kMaxArtifacts = 64;  // inputs, and as many outputs
inline constexpr size_t kMaxUrlLength = 4096;

// Errors name the field and the fix.
absl::Status validate(const JobSpec& spec);
absl::Status check_rule(const LabelRule& rule, const std::string& field);

// The head for a valid spec, ready to be submitted (without id and times).
JobHead head_of(const JobSpec& spec);

// The name of a job that was submitted without one.
std::string default_name(const JobSpec& spec);

}  // namespace hodei::core
