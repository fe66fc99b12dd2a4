// The commands of tenants, concurrency keys and the scheduler, and their answers. In a command that sets something,
// absent fields keep their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/time.h"
#include "src/core/placement/config.h"
#include "src/core/placement/shape.h"
#include "src/core/placement/tenant.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct SetTenant {
  std::string ns;
  std::optional<double> weight = {};
  std::optional<int64_t> max_running = {}, max_cpu_milli = {}, max_memory_mb = {}, max_pending = {};
};

struct SetLimit {
  std::string ns, key;
  std::optional<int64_t> limit = {};
  std::optional<double> rate = {};
  std::optional<int64_t> burst = {};
};
struct DropLimit {
  std::string ns, key;
};

struct ConfigureScheduler {
  std::optional<Strategy> strategy = {};
  std::optional<double> capacity = {}, load = {}, affinity = {}, zone = {}, history = {}, threshold = {};
  std::optional<Packing> packing = {};
  std::optional<bool> preemption = {};
  std::optional<Duration> reserve_after = {};
};  // the answer is the SchedulerConfig in force

struct DescribeTenants {
  std::string ns;
};  // empty: all
struct DescribeLimits {
  std::string ns, key;
};  // empty: all

struct TenantView {
  TenantRow row;
  int64_t running = 0, pending = 0;
  Amounts used;  // by its executions
};
struct TenantViews {
  std::vector<TenantView> tenants;
};

struct LimitView {
  std::string ns, key;
  int64_t limit = 0;  // in force; 0: none
  double rate = 0;
  int64_t burst = 0;
  int64_t held = 0, waiting = 0;
  bool is_set = false;  // by SetLimit, not by a job
};
struct LimitViews {
  std::vector<LimitView> limits;
};

using PlacementCommands = TypeList<SetTenant, SetLimit, DropLimit, ConfigureScheduler>;
using PlacementQuestions = TypeList<DescribeTenants, DescribeLimits>;
using PlacementAnswers = TypeList<SchedulerConfig, TenantViews, LimitViews>;

}  // namespace hodei::core
