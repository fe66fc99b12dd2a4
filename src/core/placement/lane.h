// The smallest part of the queue: the waiting jobs of one priority class, tenant and shape, first in, first out, by
// number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "src/base/ids.h"
#include "src/core/jobs/job.h"
#include "src/core/placement/lane_key.h"
#include "src/core/placement/score.h"
#include "src/core/placement/tenant.h"

namespace hodei::core {

struct WorkerClass;
struct Lane;

// A shape that jobs wait with, or did until recently, and how every class of workers suits it.
struct WaitingShape {
  struct Eligible {
    WorkerClass* kind;
    Fit fit;
  };
  struct Rejected {
    WorkerClass* kind;
    size_t rule;  // index into rules()
  };
  ShapePtr shape;
  Ordinal ordinal = 0;
  std::vector<Eligible> eligible;
  std::vector<Rejected> rejected;
  std::vector<Lane*> lanes;
  uint64_t idle_since = 0;  // a growing number; 0: lanes use it
};

struct Lane {
  Priority priority{};
  Tenant* tenant = nullptr;
  WaitingShape* shape = nullptr;
  absl::btree_set<JobId> jobs;
  uint32_t parked = 0;  // jobs of this lane that wait for their concurrency key instead
  JobId indexed{};      // the first job, as backlogs know it; 0: none
  bool stale = false;   // backlogs do not know the current first job yet

  // For reservations: the first job when it was last checked, and since when it has been the first. After a search of
  // all workers that found no way to make room: the earliest time for the next search.
  JobId watched{};
  MonoTime watched_since{0};
  MonoTime no_room_before{0};

  JobId first() const { return jobs.empty() ? JobId{} : *jobs.begin(); }
  LaneKey key() const { return {static_cast<uint8_t>(priority), tenant->ordinal, shape->ordinal}; }
};

// The lanes that wait for one class of workers, in the order in which they will be served.
class Backlog {
 public:
  void insert(Lane* lane, JobId first, const Fit& fit);
  void erase(Lane* lane, JobId first);

  // The first lane that `fits` accepts, by class, then tenant, then age; null if none.
  template <class Fits>
  Lane* first(const Fits& fits);
  // Likewise, among those of one tenant and priority class.
  template <class Fits>
  Lane* first_of(const Tenant& tenant, size_t priority, const Fits& fits) const;
  // Call if the pass of a tenant has decreased.
  void reorder(const Tenant& tenant);

  bool empty() const { return size_ == 0; }

 private:
  struct Entry {
    Lane* lane;
    Fit fit;
  };
  struct TenantLanes {
    Tenant* tenant;
    uint64_t pass;                        // the tenant's pass when it was last sorted
    absl::btree_map<JobId, Entry> lanes;  // by first job
  };
  struct Class {
    std::map<Ordinal, TenantLanes> tenants;        // by ordinal
    std::set<std::pair<uint64_t, Ordinal>> order;  // by pass, then ordinal
  };
  std::array<Class, kPriorities> classes_;
  size_t size_ = 0;
};

template <class Fits>
Lane* Backlog::first(const Fits& fits) {
  for (size_t c = kPriorities; c-- > 0;) {
    Class& all = classes_[c];
    for (auto at = all.order.begin(); at != all.order.end();) {
      const auto [pass, ordinal] = *at;
      TenantLanes& tenant = all.tenants.at(ordinal);
      // Passes only grow: an outdated one is too early in the order, never too late, and is corrected when it is met.
      if (tenant.tenant->pass[c] != pass) {
        all.order.erase(at);
        tenant.pass = tenant.tenant->pass[c];
        all.order.insert({tenant.pass, ordinal});
        at = all.order.lower_bound({pass, ordinal});
        continue;
      }
      if (!tenant.tenant->closed()) {
        for (const auto& [first_job, entry] : tenant.lanes) {
          if (fits(*entry.lane, entry.fit)) return entry.lane;
        }
      }
      ++at;
    }
  }
  return nullptr;
}

template <class Fits>
Lane* Backlog::first_of(const Tenant& tenant, size_t priority, const Fits& fits) const {
  const auto found = classes_[priority].tenants.find(tenant.ordinal);
  if (found == classes_[priority].tenants.end()) return nullptr;
  for (const auto& [first_job, entry] : found->second.lanes) {
    if (fits(*entry.lane, entry.fit)) return entry.lane;
  }
  return nullptr;
}

}  // namespace hodei::core
