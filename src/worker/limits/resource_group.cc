#include "src/worker/limits/resource_group.h"

#include "src/base/sizes.h"
#include "src/base/text.h"

namespace hodei::worker {

Measured UsageMeter::read() const {
  Measured now = counted();
  add_memory(now);
  now.usage.cpu_ms -= before_.usage.cpu_ms;
  now.usage.io_read_bytes -= before_.usage.io_read_bytes;
  now.usage.io_write_bytes -= before_.usage.io_write_bytes;
  now.oom_kills -= before_.oom_kills;
  return now;
}

std::unique_ptr<ResourceGroups> choose_resource_groups(const EnclosureOptions& options, const Enclosures& enclosures) {
  if (!options.cgroups) return nullptr;
  if (auto v2 = make_resource_groups_v2(enclosures)) return v2;
  return make_resource_groups_v1(options);
}

bool needs_group(const ProgramLimits& limits, const ResourceGroups* groups) {
  if (groups == nullptr) return false;
  return (limits.cpu_milli > 0 && groups->limits_cpu()) || (limits.memory_bytes > 0 && groups->limits_memory()) ||
         (limits.io_weight > 0 && groups->weighs_io());
}

std::string not_enforced(const ProgramLimits& limits, const Enclosures& enclosures, const ResourceGroups* groups,
                         const ProgramLimits& own) {
  std::string words;
  const auto add = [&words](std::string_view word) { words += cat(words.empty() ? "" : ", ", word); };
  if (limits.cpu_milli > 0 && (groups == nullptr || !groups->limits_cpu()) && own.cpu_milli != limits.cpu_milli) {
    add(own.cpu_milli == 0 ? std::string("cpu")
                           : cat("cpu (the worker's own limit of ", own.cpu_milli / 1000.0, " cores applies)"));
  }
  if (limits.memory_bytes > 0 && (groups == nullptr || !groups->limits_memory()) &&
      own.memory_bytes != limits.memory_bytes) {
    add(own.memory_bytes == 0 ? std::string("memory (only per process, with RLIMIT_DATA)")
                              : cat("memory (the worker's own limit of ", size_text(own.memory_bytes), " applies)"));
  }
  if (limits.pids > 0 && !enclosures.limits_processes()) add("pids");
  if (limits.io_weight > 0 && (groups == nullptr || !groups->weighs_io())) add("io weight");
  return words.empty() ? words : cat("this worker cannot enforce these limits: ", words);
}

}  // namespace hodei::worker
