// Quotas, limits of keys and rates, checked exactly: by what is committed, dispatch by dispatch. What runs already when
// a quota is lowered goes on; nothing further may be dispatched.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "src/core/placement/key_rule.h"
#include "src/core/placement/tenant.h"
#include "src/core/writes.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Shares {
 public:
  explicit Shares(World& world) : world_(world) {}

  // One write of a commit that was applied, in its order, and when it was decided.
  void committed(const core::Write& write, MonoTime decided);

 private:
  struct Used {
    int64_t running = 0;
    core::Amounts amounts;
  };
  struct Key {
    int64_t held = 0;
    int64_t limit = 0;  // as jobs say; 0: no job said
    std::optional<core::KeyRule> rule;
    std::deque<MonoTime> starts;  // under this rule
  };
  using Name = std::pair<std::string, std::string>;

  void move(const core::JobHead& job, bool active);
  void dispatched(const core::JobHead& job);
  void set(const core::KeyRule& rule);
  void check_rate(const Name& name, Key& key);

  World& world_;
  MonoTime decided_{0};
  std::map<JobId, core::JobPtr> active_;
  std::map<std::string, core::TenantRow> quotas_;
  std::map<std::string, Used> used_;
  std::map<Name, Key> keys_;
};

}  // namespace hodei::sim
