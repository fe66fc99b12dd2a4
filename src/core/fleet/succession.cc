#include "src/core/fleet/succession.h"

#include <algorithm>

#include "src/base/counted.h"
#include "src/base/status.h"

namespace hodei::core {

bool has_stopped(const std::vector<std::string>& stopped, const std::string& incarnation) {
  const std::string id = parse_incarnation(incarnation).id;
  return !id.empty() && std::ranges::find(stopped, id) != stopped.end();
}

absl::Status check_succession(const LiveWorker& worker, const Successor& next, const EngineConfig& config,
                              const Turn& turn) {
  if (speaks_for(next.who, parse_incarnation(worker.record->incarnation))) return absl::OkStatus();
  if (!worker.connected && has_stopped(next.stopped, worker.record->incarnation)) return absl::OkStatus();
  const size_t count = worker.executions.size();
  const bool is_there = worker.connected && !worker.unhealthy;
  // A token is a person's word that this one replaces the other.
  if (count == 0 && (!is_there || next.has_token)) return absl::OkStatus();
  const std::string& host = worker.record->info.hostname;
  const std::string executions = counted(count, "execution");
  const std::string other = cat("info.id: worker '", worker.id().str(), "'");
  if (is_there) {
    return absl::UnavailableError(cat(other, " is connected", host.empty() ? "" : cat(" from ", host),
                                      count == 0 ? "" : cat(" and running ", executions),
                                      "; this one must wait until it is gone. To run both, give each its own "
                                      "--worker-id and --state-dir; to replace the other, stop it first"));
  }
  const Duration left = std::max(Duration(0), config.lost_after - (turn.mono() - worker.last_seen));
  return absl::UnavailableError(
      cat(other, " may still run ", executions, " from before", host.empty() ? "" : cat(" (", host, ")"),
          "; this one can register when the lease ends, in ", (left.count() + 999'999) / 1'000'000, " s"));
}

}  // namespace hodei::core
