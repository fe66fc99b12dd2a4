#include "src/providers/docker/engine_json.h"

#include <charconv>

#include "src/base/text.h"

namespace hodei::providers::docker {
namespace {

constexpr int kSpoken = 41;  // the version 1.41 that this is written for
constexpr size_t kLongestLine = 1 << 20;

// The 41 of "1.41"; 0 when it is none.
int minor_of(const std::string& version) {
  int minor = 0;
  if (version.starts_with("1.")) std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor;
}

// Engines name architectures both ways.
std::string machine_name(const std::string& architecture) {
  if (architecture == "amd64") return "x86_64";
  if (architecture == "arm64") return "aarch64";
  return architecture;
}

}  // namespace

EngineInfo info_of(const Json& info) {
  EngineInfo out;
  out.version = text(info, "ServerVersion");
  out.os_type = text(info, "OSType");
  out.architecture = machine_name(text(info, "Architecture"));
  out.cpus = number(info, "NCPU");
  out.memory_bytes = number(info, "MemTotal");
  out.memory_limit = flag(info, "MemoryLimit", true);
  out.cpu_limit = flag(info, "CpuCfsQuota", true);
  out.pids_limit = flag(info, "PidsLimit", true);
  out.nvidia = field(info, "Runtimes").is_object() && field(info, "Runtimes").contains("nvidia");
  return out;
}

StringMap string_map_of(const Json& object) {
  StringMap out;
  if (!object.is_object()) return out;
  for (const auto& [key, value] : object.items()) out[key] = text_of(value);
  return out;
}

ContainerFacts inspected(const Json& container) {
  const Json& state = field(container, "State");
  ContainerFacts out;
  out.id = text(container, "Id");
  out.name = text(container, "Name");
  if (out.name.starts_with('/')) out.name.erase(0, 1);
  out.state = text(state, "Status");
  out.error = text(state, "Error");
  out.exit_code = number(state, "ExitCode");
  out.out_of_memory = flag(state, "OOMKilled");
  out.memory_bytes = number(field(container, "HostConfig"), "Memory");
  out.labels = string_map_of(field(field(container, "Config"), "Labels"));
  return out;
}

ContainerFacts listed(const Json& container) {
  ContainerFacts out;
  out.id = text(container, "Id");
  out.state = text(container, "State");
  out.labels = string_map_of(field(container, "Labels"));
  const Json& names = field(container, "Names");
  if (names.is_array() && !names.empty()) out.name = text_of(names[0]);
  if (out.name.starts_with('/')) out.name.erase(0, 1);
  return out;
}

std::string version_prefix(const Json& version) {
  const int newest = minor_of(text(version, "ApiVersion"));
  const int oldest = minor_of(text(version, "MinAPIVersion"));
  int spoken = kSpoken;
  if (newest > 0) spoken = std::min(spoken, newest);
  spoken = std::max(spoken, oldest);
  return cat("/v1.", spoken);
}

std::string filters(const StringMap& labels, bool events) {
  Json out = {{"label", Json::array()}};
  for (const auto& [key, value] : labels) out["label"].push_back(cat(key, "=", value));
  if (events) out["type"] = {"container"};
  return dump(out);
}

bool JsonLines::add(std::string_view piece, const std::function<void(const Json&)>& each) {
  rest_ += piece;
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const Json line = parse_json(std::string_view(rest_).substr(begin, end - begin));
    if (line.is_object()) each(line);
  }
  rest_.erase(0, begin);
  return rest_.size() <= kLongestLine;
}

}  // namespace hodei::providers::docker
