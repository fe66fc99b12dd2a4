// Providers and pools: what is stored of them, and what is known of a provider while it runs. The rules that make and
// end workers are in the files beside this one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "src/base/time.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

// What an admin wants of a provider.
enum class ProviderMode : uint8_t { Enabled = 1, Maintenance, Disabled };

struct ProviderRow {
  std::string name;
  std::string type;  // process, docker, kubernetes, firecracker, custom, ec2, …
  Labels options;    // its own words
  ProviderMode mode = ProviderMode::Enabled;
  uint32_t max_workers = 0;    // at once; 0: what it can do itself
  uint32_t max_jobs = 0;       // running on its workers; with so many it gets no new workers. 0: no limit
  int64_t preference = 0;      // among those that could, the higher goes first
  double cost = 0;             // of a worker and hour, in whatever unit; the lower goes first
  Labels labels;               // of every worker that it makes: zone, region, …
  std::string server_address;  // where its workers find the server; empty: the server's own
  bool built_in = false;       // there without having been added
  bool guessed = false;        // built in because it seemed to work here, not because somebody asked for it

  bool operator==(const ProviderRow&) const = default;
};

struct PoolRow {
  std::string name;
  std::string provider;  // empty: any that can
  std::string image;
  uint32_t min = 0;      // kept even when nobody waits
  uint32_t max = 0;      // 0: as many as the provider makes
  uint32_t spare = 0;    // idle ones kept warm
  Duration idle = 10s;   // without work, then it goes
  bool one_job = false;  // a fresh worker for every execution
  uint32_t slots = 1;
  Amounts size;  // of one worker; 0: what the first job needs
  Labels labels;
  std::string ns;      // whose jobs its workers run; empty: everybody's
  bool reuse = false;  // also a worker with hardware isolation runs one job after another

  bool operator==(const PoolRow&) const = default;
};

std::string encode(const ProviderRow& row);
ProviderRow decode_provider(std::string_view bytes);
std::string encode(const PoolRow& row);
PoolRow decode_pool(std::string_view bytes);

// Names, sizes and counts; the options are the provider's own to check.
absl::Status validate(const ProviderRow& row);
absl::Status validate(const PoolRow& row);

// What a provider says that it can do, as long as it runs.
struct ProviderFacts {
  Amounts largest;  // of one worker; 0: no limit that it knows of
  bool gpu = false;
  bool images = false;
  bool makes_workers = true;          // false: people start them
  std::vector<std::string> runtimes;  // what its workers can run: shell, script, image
  std::vector<std::string> architectures;
  uint32_t max_workers = 0;  // 0: no limit that it knows of
  Isolation isolation = Isolation::Process;
  Duration startup{0};  // expected, before one was measured

  bool operator==(const ProviderFacts&) const = default;
};

enum class HealthState : uint8_t { Unknown = 0, Healthy, Degraded, Unhealthy };

// As SPEC 2.5 names them.
enum class ProviderState : uint8_t { Starting = 1, Active, Unhealthy, Overloaded, Maintenance, Disabled };

std::string_view name(ProviderMode mode);
std::string_view name(HealthState state);
std::string_view name(ProviderState state);

// A provider in memory. All but the row is volatile.
struct LiveProvider {
  ProviderRow row;
  ProviderFacts facts;
  bool seen = false;  // facts are known
  HealthState health = HealthState::Unknown;
  std::string health_reason;
  uint32_t unhealthy_in_a_row = 0;
  WallTime checked;

  // Back-off after failures that are the provider's own.
  uint32_t failures_in_a_row = 0;
  MonoTime not_before{0};
  std::string last_failure;

  Duration startup{0};  // measured, smoothed; 0: not yet
  uint64_t created = 0, failed = 0;
  // Kept by the state: workers of it that are not Terminated, and of them those that have not registered.
  uint32_t workers = 0;
  uint32_t jobs = 0;  // executions on workers of it, whoever started those

  bool has_enough_jobs() const { return row.max_jobs > 0 && jobs >= row.max_jobs; }
  Duration expected_startup() const { return startup > Duration(0) ? startup : facts.startup; }
  uint32_t room() const;  // for further workers; UINT32_MAX: no limit
  ProviderState state() const;
};

// After so many bad checks in a row a provider gets no new workers.
inline constexpr uint32_t kUnhealthyAfter = 2;
// Workers of one provider that are being made at once.
inline constexpr uint32_t kMaxStartingWorkers = 20;
inline constexpr uint32_t kMaxProviders = 100;
inline constexpr uint32_t kMaxPools = 1'000;
inline constexpr size_t kMaxSettingBytes = 64 << 10;  // of one provider or pool, as it is stored
inline constexpr double kMaxCost = 1e6;
inline constexpr uint32_t kMaxPoolWorkers = 10'000;

}  // namespace hodei::core
