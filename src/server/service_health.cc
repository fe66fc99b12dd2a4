#include "src/server/service_health.h"

#include <algorithm>
#include <utility>

#include "src/base/text.h"

namespace hodei::server {
namespace {

// What everything that changes something needs.
std::string against_engine(const ServiceFacts& facts) {
  if (!facts.commits) return cat("nothing can be committed: ", facts.trouble);
  if (!facts.loaded) return "the server is loading";
  return {};
}

std::string either(std::string first, bool is_so, std::string_view second) {
  if (!first.empty() || !is_so) return first;
  return std::string(second);
}

}  // namespace

std::vector<ServiceHealth> assess_services(const ServiceFacts& facts) {
  const std::string engine = against_engine(facts);
  const std::string logs = facts.logs_stuck ? "job output cannot be stored" : "";
  const std::string samples = facts.samples_held ? "the disk is nearly full: no samples are stored" : "";
  std::vector<ServiceHealth> out;
  const auto add = [&](std::string_view name, std::string against) {
    if (facts.stopping) against = "the server is shutting down";
    const bool serving = against.empty();
    out.push_back({name, serving, std::move(against)});
  };
  add("hodei.v1.WorkerAgentService", engine);
  add("hodei.v1.JobExecutionService",
      either(engine, facts.disk_low, "the disk is nearly full: no new jobs are accepted"));
  add("hodei.v1.JobInputService", either(engine, facts.disk_low, "the disk is nearly full: input waits for room"));
  add("hodei.v1.SchedulerService", engine);
  add("hodei.v1.ProviderManagementService", engine);
  add("hodei.v1.MetricsService", samples);
  add("hodei.v1.LogStreamService", logs);
  add("hodei.v1.ArtifactService", either({}, facts.disk_low, "the disk is nearly full: artifacts wait for room"));
  add("hodei.v1.AdminService", "");  // it tells what is wrong with the others
  return out;
}

void add_if_missing(std::string_view service, std::vector<ServiceHealth>& assessed) {
  if (std::ranges::find(assessed, service, &ServiceHealth::name) != assessed.end()) return;
  ServiceHealth copy = *std::ranges::find(assessed, "hodei.v1.SchedulerService", &ServiceHealth::name);
  copy.name = service;
  assessed.push_back(std::move(copy));
}

}  // namespace hodei::server
