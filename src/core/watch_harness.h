// For the tests of the engine: checks that no quota and no rate is ever exceeded.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/core/modules.h"
#include "src/core/turn.h"

namespace hodei::core {

class Watch {
 public:
  // After every decision.
  void look(const Modules& modules, const Turn& turn, MonoTime now) {
    look_at_tenants(modules);
    for (const Write& write : turn.writes) {
      // A rule that is set again begins with a full burst.
      if (const auto* gone = std::get_if<Erase<KeyRule>>(&write)) keys_.erase(gone->key);
    }
    for (const Effect& effect : turn.effects) {
      if (const auto* run = std::get_if<RunExecution>(&effect)) start(modules, run->execution.job, now);
    }
  }

 private:
  // If a quota was lowered below what runs, usage must not grow.
  static void check(const std::string& what, int64_t quota, int64_t now, int64_t before) {
    if (quota == 0 || now <= quota) return;
    EXPECT_LE(now, before) << what << " is over its quota of " << quota;
  }

  void look_at_tenants(const Modules& modules) {
    for (const auto& [ns, tenant] : modules.placement.roster.tenants.all()) {
      int64_t running = 0;
      Amounts used;
      for (const auto& [id, live] : modules.jobs.table.all()) {
        if (live.head->ns != ns || !is_active(live.head->state)) continue;
        ++running;
        used += live.head->shape->needs;
      }
      EXPECT_EQ(tenant->running, running) << ns.str();
      EXPECT_EQ(tenant->used, used) << ns.str();
      auto& [running_before, used_before] = tenants_[ns.str()];
      check(cat(ns.str(), ": max_running"), tenant->row.max_running, running, running_before);
      check(cat(ns.str(), ": max_cpu"), tenant->row.max_cpu_milli, used.cpu_milli, used_before.cpu_milli);
      check(cat(ns.str(), ": max_memory"), tenant->row.max_memory_mb, used.memory_mb, used_before.memory_mb);
      running_before = running;
      used_before = used;
    }
  }

  void start(const Modules& modules, JobId job, MonoTime now) {
    const LiveJob* live = modules.jobs.table.find(job);
    if (live == nullptr || live->head->concurrency_key.empty()) return;
    const KeyState* key = modules.placement.keys.find(live->head->ns.str(), live->head->concurrency_key);
    EXPECT_LE(key->held, key->cap()) << live->head->concurrency_key;
    Starts& starts = keys_[{live->head->ns.str(), live->head->concurrency_key}];
    if (!key->has_rate() || key->setting->rule != starts.rule) starts.at.clear();
    if (!key->has_rate()) return;
    starts.rule = key->setting->rule;
    starts.at.push_back(now);
    for (size_t i = 0; i < starts.at.size(); ++i) {
      const double window = static_cast<double>((now - starts.at[i]).count()) / 1e6;
      EXPECT_LE(static_cast<double>(starts.at.size() - i),
                starts.rule.rate * window + static_cast<double>(starts.rule.burst) + 1e-3)
          << live->head->concurrency_key << " is over its rate in " << window << " s";
    }
  }

  struct Starts {
    KeyRule rule;
    std::deque<MonoTime> at;
  };
  std::map<std::string, std::pair<int64_t, Amounts>> tenants_;
  std::map<KeyOf<KeyRule>, Starts> keys_;
};

}  // namespace hodei::core
