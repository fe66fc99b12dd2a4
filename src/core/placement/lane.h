// The queue's smallest part: the waiting jobs of one priority class, one tenant and one shape, first in first out by
// number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "src/base/ids.h"
#include "src/core/job/job.h"
#include "src/core/placement/score.h"

namespace hodei::core {

struct WorkerClass;
struct Lane;

// Whom jobs count for. Inside a class, waiting work rotates over tenants: the one with the smallest pass is next.
struct Tenant {
  std::string ns;
  uint32_t ordinal = 0;
  std::array<uint64_t, kPriorities> pass{};
};

// A shape that somebody waits with, and the kinds of workers that could take it.
struct WaitingShape {
  struct Eligible {
    WorkerClass* kind;
    Fit fit;
  };
  ShapePtr shape;
  uint32_t ordinal = 0;
  std::vector<Eligible> eligible;
  uint32_t lanes = 0;
};

struct Lane {
  Priority priority{};
  Tenant* tenant = nullptr;
  WaitingShape* shape = nullptr;
  absl::btree_set<JobId> jobs;
  uint32_t parked = 0;       // jobs of this lane that wait for their concurrency key instead
  JobId indexed{};           // the first job under which backlogs know this lane; 0: none

  JobId first() const { return jobs.empty() ? JobId{} : *jobs.begin(); }
};

// The lanes that wait for one kind of worker, in the order they are to be served.
class Backlog {
 public:
  void insert(Lane* lane, JobId first);
  void erase(Lane* lane, JobId first);

  // The first lane, by class, then tenant, then age, that `fits` accepts; null if none.
  template <class Fits>
  Lane* first(const Fits& fits) const;

  bool empty() const { return size_ == 0; }

 private:
  using Queue = absl::btree_set<std::pair<JobId, Lane*>>;
  struct TenantLanes {
    Tenant* tenant;
    Queue lanes;
  };
  std::array<std::map<uint32_t, TenantLanes>, kPriorities> classes_;   // by tenant ordinal
  size_t size_ = 0;
};

template <class Fits>
Lane* Backlog::first(const Fits& fits) const {
  for (size_t c = kPriorities; c-- > 0;) {
    const auto& tenants = classes_[c];
    if (tenants.empty()) continue;
    std::vector<const TenantLanes*> order;
    order.reserve(tenants.size());
    for (const auto& [ordinal, lanes] : tenants) order.push_back(&lanes);
    std::stable_sort(order.begin(), order.end(), [c](const TenantLanes* a, const TenantLanes* b) {
      return a->tenant->pass[c] < b->tenant->pass[c];
    });
    for (const TenantLanes* tenant : order) {
      for (const auto& [first_job, lane] : tenant->lanes) {
        if (fits(*lane)) return lane;
      }
    }
  }
  return nullptr;
}

}  // namespace hodei::core
