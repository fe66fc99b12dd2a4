#include "src/server/system_state.h"

#include "src/base/text.h"

namespace hodei::server {

std::string_view name(SystemState state) {
  constexpr std::string_view kNames[] = {"Unknown",  "Initializing", "Ready",   "Running",
                                         "Degraded", "Critical",     "Shutdown"};
  return kNames[static_cast<size_t>(state)];
}

SystemAssessment assess(const SystemFacts& facts) {
  if (facts.stopping) return {SystemState::Shutdown, "shutting down"};
  if (!facts.commits) return {SystemState::Critical, cat("nothing can be committed: ", facts.trouble)};
  if (!facts.loaded) return {SystemState::Initializing, "loading"};
  if (facts.workers > 0 && facts.unhealthy * 2 >= facts.workers) {
    return {SystemState::Critical, cat(facts.unhealthy, " of ", facts.workers, " workers are unhealthy")};
  }
  if (facts.unhealthy > 0) {
    return {SystemState::Degraded, cat(facts.unhealthy, " of ", facts.workers, " workers are unhealthy")};
  }
  if (!facts.provider_trouble.empty()) return {SystemState::Degraded, facts.provider_trouble};
  if (facts.slowest_commit >= kSlowCommit) {
    return {SystemState::Degraded,
            cat("the store is slow: a commit took ", facts.slowest_commit.count() / 1000, " ms")};
  }
  if (facts.active > 0) return {SystemState::Running, cat(facts.active, " executions are with workers")};
  return {SystemState::Ready, "nothing runs"};
}

}  // namespace hodei::server
