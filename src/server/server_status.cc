#include "src/server/server_status.h"

namespace hodei::server {

SystemAssessment ServerStatus::assess(const core::SystemReport& report) {
  const LoopHealth health = parts_.loop.health();
  SystemFacts facts;
  facts.loaded = health.loaded;
  facts.stopping = stopping_;
  facts.commits = health.trouble.ok();
  facts.trouble = std::string(health.trouble.message());
  facts.slowest_commit = health.slowest_turn;
  facts.active = report.active;
  facts.workers = report.workers;
  facts.unhealthy = report.unhealthy;
  facts.provider_trouble = report.provider_trouble;
  return server::assess(facts);
}

std::vector<ServiceHealth> ServerStatus::services() {
  const LoopHealth health = parts_.loop.health();
  return assess_services({.stopping = stopping_,
                          .loaded = health.loaded,
                          .commits = health.trouble.ok(),
                          .trouble = std::string(health.trouble.message()),
                          .logs_stuck = parts_.logs.stats().is_stuck,
                          .disk_low = parts_.room.is_low(),
                          .samples_held = parts_.room.is_low()});
}

std::string ServerStatus::metrics_text(const Snapshot& snapshot) {
  Readings readings;
  readings.loop = snapshot;
  readings.health = parts_.loop.health();
  readings.logs = parts_.logs.stats();
  readings.refused_claims = parts_.connections.refused_claims.counts();
  readings.refused_claims[static_cast<size_t>(Claim::LogAfterEnd)] += readings.logs.after_end;
  readings.state = assess(snapshot.system).state;
  readings.disk_free_bytes = parts_.room.free_bytes();
  readings.worker_streams = parts_.connections.links.size();
  parts_.telemetry.read(readings);
  return parts_.telemetry.metrics().text(readings);
}

}  // namespace hodei::server
