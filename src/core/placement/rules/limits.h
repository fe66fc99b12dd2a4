// The worker must be able to enforce the job's limits, and to provide a sandbox and secret files if the job asks for
// them.
#pragma once

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

// A worker that cannot limit single jobs, such as a pod, enforces a limit if the limit is its own. In a pool, whose
// size was chosen for many jobs, its own limit may be higher.
inline bool holds_itself(int64_t needed, int64_t own, const WorkerInfo& worker) {
  return worker.labels.contains("pool") ? needed <= own : needed == own;
}

inline std::optional<std::string> rejects_limits(const Shape& shape, const WorkerInfo& worker) {
  if (worker.lacks == 0) return std::nullopt;
  if ((shape.asks & worker.lacks & kSandbox) != 0) return std::string("cannot run a job in a sandbox");
  if ((shape.asks & worker.lacks & kSecretFiles) != 0) return std::string("cannot give a job its secrets as files");
  // A plain process enforces limits as well as its machine allows, and says so at the end of the job.
  if (worker.isolation == Isolation::Process) return std::nullopt;
  const Amounts& needs = shape.needs;
  const auto against = [&worker](const char* what, int64_t needed, int64_t own, uint32_t limit, uint32_t whole,
                                 double unit) -> std::optional<std::string> {
    if (needed == 0 || (worker.lacks & limit) == 0) return std::nullopt;
    if ((worker.lacks & whole) != 0) return cat("cannot limit a job's ", what, ", and has no limit of it itself");
    if (holds_itself(needed, own, worker)) return std::nullopt;
    return cat("cannot limit a job's ", what, " to ", static_cast<double>(needed) / unit, ", only itself to ",
               static_cast<double>(own) / unit);
  };
  if (auto no = against("cores", needs.cpu_milli, worker.capacity.cpu_milli, kLimitCpu, kOwnCpu, 1000)) return no;
  return against("MB of memory", needs.memory_mb, worker.capacity.memory_mb, kLimitMemory, kOwnMemory, 1);
}

}  // namespace hodei::core
