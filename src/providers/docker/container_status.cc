#include "src/providers/docker/container_status.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "src/base/clip.h"
#include "src/base/sizes.h"
#include "src/base/text.h"

namespace hodei::providers::docker {
namespace {

constexpr size_t kLongestReason = 300;

std::string last_line(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  const size_t newline = text.rfind('\n');
  std::string line(clip(newline == std::string_view::npos ? text : text.substr(newline + 1), kLongestReason));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return line;
}

std::string why_it_ended(const ContainerFacts& container, const std::string& last_lines) {
  if (container.out_of_memory) {
    const std::string limit = container.memory_bytes > 0 ? cat(" (limit ", size_text(container.memory_bytes), ")") : "";
    return cat("killed: out of memory", limit);
  }
  if (!container.error.empty()) return std::string(clip(container.error, kLongestReason));
  if (container.exit_code == 0) return "ended";
  std::string reason = cat("ended with exit code ", container.exit_code);
  if (container.exit_code > 128) reason += cat(" (signal ", container.exit_code - 128, ")");
  const std::string line = last_line(last_lines);
  if (!line.empty()) reason += cat(": ", line);
  if (last_lines.find("exec format error") != std::string::npos) {
    reason += "; the worker is built for a different architecture than this engine's";
  }
  return reason;
}

}  // namespace

WorkerStatus status_of(const ContainerFacts& container, const std::string& last_lines) {
  if (container.state == "running" || container.state == "paused") return {.phase = WorkerPhase::Running};
  if (container.state == "restarting") return {.phase = WorkerPhase::Starting};
  if (container.state == "created") {
    // A start that failed leaves its error here; without one, its creator may still start it.
    return {.phase = WorkerPhase::Starting,
            .reason = container.error.empty() ? "created, not started" : container.error,
            .hopeless = !container.error.empty()};
  }
  if (container.state == "removing") return {.phase = WorkerPhase::Ended, .reason = "being removed"};
  return {.phase = WorkerPhase::Ended, .reason = why_it_ended(container, last_lines)};
}

Health health_of(const EngineInfo& info, const std::string& engine, const std::string& worker_binary) {
  if (info.os_type != "linux") {
    return {.state = HealthState::Unhealthy,
            .reason = cat("the engine at ", engine, " runs containers of '", info.os_type, "', not linux")};
  }
  if (worker_binary.empty() || access(worker_binary.c_str(), R_OK) != 0) {
    return {
        .state = HealthState::Degraded,
        .reason =
            "the static worker (hodei-worker) is not next to the server program: only images that contain it can be "
            "used"};
  }
  // Workers run all the same, but people should know that their limits are not enforced.
  std::string missing;
  const auto note = [&](bool can, const char* what) {
    if (!can) missing += cat(missing.empty() ? "" : ", ", what);
  };
  note(info.memory_limit, "memory");
  note(info.cpu_limit, "cpu");
  note(info.pids_limit, "pids");
  return {.state = HealthState::Healthy,
          .reason = missing.empty() ? "" : cat("the engine's machine has no cgroups to limit: ", missing)};
}

}  // namespace hodei::providers::docker
