// The health of each service of the API, for gRPC's health protocol and for people: a part that cannot work says so
// without taking the others with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hodei::server {

struct ServiceFacts {
  bool stopping = false;
  bool loaded = false;        // the engine
  bool commits = true;        // the last commit worked
  std::string trouble;        // of the store
  bool logs_stuck = false;    // output of jobs cannot be stored
  bool disk_low = false;      // artifacts wait for room
  bool samples_held = false;  // no samples are stored: the disk is nearly full
};

struct ServiceHealth {
  std::string_view name;  // hodei.v1.JobExecutionService
  bool serving = true;
  std::string reason;  // why it is not
};

// Those that need more or less than the engine, and the oldest.
std::vector<ServiceHealth> assess_services(const ServiceFacts& facts);

// A service that is not among them needs the engine and nothing else, as SchedulerService does.
void add_if_missing(std::string_view service, std::vector<ServiceHealth>& assessed);

}  // namespace hodei::server
