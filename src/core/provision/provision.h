// Providers and pools: what is stored about them, and what is known about a provider at run time. The rules that create
// and end workers are in the other files of this folder.
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

// Set by an administrator.
enum class ProviderMode : uint8_t { Enabled = 1, Maintenance, Disabled };

struct ProviderRow {
  std::string name;
  std::string type;  // process, docker, kubernetes, firecracker, custom, ec2, …
  Labels options;    // specific to the type
  ProviderMode mode = ProviderMode::Enabled;
  uint32_t max_workers = 0;    // at once; 0: the provider's own limit
  uint32_t max_jobs = 0;       // while its workers run this many, it creates no more workers; 0: no limit
  int64_t preference = 0;      // of suitable providers, the highest is tried first
  double cost = 0;             // per worker and hour, in any unit; the lowest is tried first
  Labels labels;               // given to every worker it creates: zone, region, …
  std::string server_address;  // where its workers reach the server; empty: where the server listens
  bool built_in = false;       // exists without having been added
  bool guessed = false;        // built in because it seems to work here, not because somebody asked for it

  bool operator==(const ProviderRow&) const = default;
};

struct PoolRow {
  std::string name;
  std::string provider;  // empty: any suitable one
  std::string image;
  uint32_t min = 0;      // workers kept even if no job waits
  uint32_t max = 0;      // 0: the provider's limit
  uint32_t spare = 0;    // idle workers kept ready
  Duration idle = 10s;   // a worker without work leaves after this
  bool one_job = false;  // a new worker for every execution
  uint32_t slots = 1;
  Amounts size;  // per worker; 0: what the first job needs
  Labels labels;
  std::string ns;      // its workers run jobs of this namespace only; empty: of all
  bool reuse = false;  // workers with hardware isolation run several jobs in turn

  bool operator==(const PoolRow&) const = default;
};

std::string encode(const ProviderRow& row);
ProviderRow decode_provider(std::string_view bytes);
std::string encode(const PoolRow& row);
PoolRow decode_pool(std::string_view bytes);

// Checks names, sizes and counts; the provider checks its options.
absl::Status validate(const ProviderRow& row);
absl::Status validate(const PoolRow& row);

// What a provider reports that it can do.
struct ProviderFacts {
  Amounts largest;  // worker; 0: no known limit
  Amounts usual;    // size of a worker if no size is requested; 0: as large as possible
  bool gpu = false;
  bool images = false;
  bool makes_workers = true;          // false: workers are started by hand
  std::vector<std::string> runtimes;  // what its workers can run: shell, script, image
  std::vector<std::string> architectures;
  uint32_t max_workers = 0;  // 0: no known limit
  Isolation isolation = Isolation::Process;
  Duration startup{0};  // estimate, until one was measured
  uint32_t lacks = 0;   // abilities that none of its workers has

  bool operator==(const ProviderFacts&) const = default;
};

enum class HealthState : uint8_t { Unknown = 0, Healthy, Degraded, Unhealthy };

// What each of them means is in docs/semantics.md#providers.
enum class ProviderState : uint8_t { Starting = 1, Active, Unhealthy, Overloaded, Maintenance, Disabled };

std::string_view name(ProviderMode mode);
std::string_view name(HealthState state);
std::string_view name(ProviderState state);

// A provider in memory. Everything but the row is volatile.
struct LiveProvider {
  ProviderRow row;
  ProviderFacts facts;
  bool seen = false;  // facts are known
  HealthState health = HealthState::Unknown;
  std::string health_reason;
  uint32_t unhealthy_in_a_row = 0;
  WallTime checked;

  // Backoff after failures of the provider itself.
  uint32_t failures_in_a_row = 0;
  MonoTime not_before{0};
  std::string last_failure;

  Duration startup{0};  // measured, smoothed; 0: not measured yet
  uint64_t created = 0, failed = 0;
  // Maintained by the state.
  uint32_t workers = 0;  // of this provider, not Terminated
  uint32_t jobs = 0;     // executions on its workers, whoever started those workers

  bool has_enough_jobs() const { return row.max_jobs > 0 && jobs >= row.max_jobs; }
  Duration expected_startup() const { return startup > Duration(0) ? startup : facts.startup; }
  uint32_t room() const;  // for more workers; UINT32_MAX: no limit
  ProviderState state() const;
};

// After this many failed checks in a row, a provider creates no new workers.
inline constexpr uint32_t kUnhealthyAfter = 2;
// Workers that one provider may be creating at once.
inline constexpr uint32_t kMaxStartingWorkers = 20;
// Workers that the provider cannot start yet, such as pods that fit on no node. They do not count for the limit above.
inline constexpr uint32_t kMaxHeldUpWorkers = 20;
inline constexpr uint32_t kMaxProviders = 100;
inline constexpr uint32_t kMaxPools = 1'000;
inline constexpr size_t kMaxSettingBytes = 64 << 10;  // per provider or pool, as stored
inline constexpr double kMaxCost = 1e6;
inline constexpr uint32_t kMaxPoolWorkers = 10'000;

}  // namespace hodei::core
