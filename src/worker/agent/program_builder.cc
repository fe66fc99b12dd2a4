#include "src/worker/agent/program_builder.h"

#include <algorithm>
#include <map>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "hodei/v1/job.pb.h"
#include "src/base/finite.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/worker/agent/script_header.h"
#include "src/worker/limits/enclosure.h"

namespace hodei::worker {
namespace {

constexpr std::string_view kScriptName = "script";
constexpr std::string_view kScriptPath = {"\0folder/script", 14};
static_assert(kScriptPath.starts_with(kFolderMark) && kScriptPath.ends_with(kScriptName));

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) return out;
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::vector<std::string> environment(const RunOrder& order, const v1::JobSpec& spec,
                                     const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> env;
  for (const auto& [name, value] : spec.env()) env[name] = value;
  env["HODEI_JOB_ID"] = order.job_id.empty() ? short_id(order.execution.job) : order.job_id;
  env[kExecutionVariable] = to_string(order.execution);
  env["HODEI_ATTEMPT"] = std::to_string(order.attempt);
  env["HODEI_EPOCH"] = std::to_string(order.epoch);
  for (const auto& [name, value] : given) env[name] = value;
  if (!order.traceparent.empty()) env["TRACEPARENT"] = order.traceparent;
  std::vector<std::string> out;
  out.reserve(env.size());
  for (const auto& [name, value] : env) out.push_back(cat(name, "=", value));
  return out;
}

void add_script(const v1::ScriptCommand& script, Program& program) {
  std::string interpreter = script.interpreter();
  if (interpreter.empty()) interpreter = shebang_interpreter(script.content());
  if (interpreter.empty()) interpreter = "bash";
  program.argv = words(interpreter);
  program.argv.emplace_back(kScriptPath);
  program.argv.insert(program.argv.end(), script.args().begin(), script.args().end());
  program.files.push_back({std::string(kScriptName), script.no_safety_header()
                                                         ? script.content()
                                                         : with_safety_header(interpreter, script.content())});
}

Duration duration(int64_t ms) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 3660);  // in microseconds it still is a number
  return std::clamp(std::chrono::milliseconds(ms), std::chrono::milliseconds(0), kLongest);
}

bool has_nul(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text != kScriptPath && text.find('\0') != std::string::npos) return true;
  }
  return false;
}

std::string what_is_wrong(const Program& program, const v1::JobSpec& spec) {
  for (const auto& [name, value] : spec.env()) {
    if (name.empty() || name.find('=') != std::string::npos) return cat("env: '", name, "' is not a valid name");
  }
  if (has_nul(program.argv) || has_nul(program.env)) return "command or env: contains a NUL byte";
  if (!program.working_dir.empty() && (program.working_dir[0] != '/' || has_nul({program.working_dir}))) {
    return cat("working_dir: '", program.working_dir, "' is not an absolute path");
  }
  return {};
}

constexpr int64_t kMebibyte = 1 << 20;

void add_rules(const v1::JobSpec& spec, Program& program) {
  const v1::Resources& r = spec.resources();
  program.limits = {.cpu_milli = r.cpu_milli() > 0 ? r.cpu_milli() : milli_cores(r.cpu_cores()),
                    .memory_bytes = std::clamp<int64_t>(r.memory_mb(), 0, INT64_MAX / kMebibyte) * kMebibyte,
                    .pids = r.pids(),
                    .io_weight = r.io_weight(),
                    .disk_bytes = std::clamp<int64_t>(r.storage_mb(), 0, INT64_MAX / kMebibyte) * kMebibyte};
  program.output = {.drop = spec.logs().policy() == v1::LogOptions::drop,
                    .max_bytes = spec.logs().max_bytes(),
                    .max_bytes_per_second = spec.logs().max_bytes_per_second()};
  if (!spec.has_sandbox()) return;
  const v1::Sandbox& s = spec.sandbox();
  program.sandbox = {.enabled = true,
                     .user = s.user(),
                     .allow_network = s.allow_network(),
                     .writable_root = s.writable_root(),
                     .shared_tmp = s.shared_tmp(),
                     .allow_all_syscalls = s.allow_all_syscalls()};
}

std::string as_json(const std::map<std::string, std::string>& secrets) {
  google::protobuf::Struct object;
  for (const auto& [name, value] : secrets) (*object.mutable_fields())[name].set_string_value(value);
  std::string json;
  return google::protobuf::util::MessageToJsonString(object, &json).ok() ? json : std::string();
}

void add_secrets(const RunOrder& order, const v1::JobSpec& spec, Program& program) {
  if (!order.secret_error.empty()) {
    program.impossible = order.secret_error;
    program.impossible_failure = "secret_error";
  }
  if (order.secrets.empty()) return;
  if (!spec.takes_stdin()) program.input = as_json(order.secrets);
  if (!spec.secret_files()) return;
  for (const auto& [name, value] : order.secrets) program.secret_files.push_back({name, value});
}

}  // namespace

Program build_program(const RunOrder& order, const std::map<std::string, std::string>& given) {
  Program program;
  v1::JobSpec spec;
  if (!spec.ParseFromString(order.spec)) {
    program.impossible = "the job's spec cannot be read by this worker";
    return program;
  }
  program.env = environment(order, spec, given);
  program.working_dir = spec.working_dir();
  program.timeout = duration(spec.timeout_ms());
  program.grace = duration(spec.kill_grace_ms());
  switch (spec.command().kind_case()) {
    case v1::Command::kShell:
      program.argv.push_back(spec.command().shell().cmd());
      program.argv.insert(program.argv.end(), spec.command().shell().args().begin(),
                          spec.command().shell().args().end());
      break;
    case v1::Command::kScript: add_script(spec.command().script(), program); break;
    default: program.impossible = "this worker does not support this kind of command; upgrade it"; return program;
  }
  program.impossible = what_is_wrong(program, spec);
  add_rules(spec, program);
  add_secrets(order, spec, program);
  program.streams_input = spec.takes_stdin();
  if (!order.input_error.empty()) {
    program.impossible = order.input_error;
    program.impossible_failure = "input_error";
  }
  return program;
}

}  // namespace hodei::worker
