// The tenants that have jobs or settings, and whose turn it is.
//
// Tenants take turns by stride: every placement moves its tenant back by a step that is the smaller, the larger the
// tenant's weight is, and who is furthest ahead goes first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "src/core/placement/lane.h"
#include "src/core/placement/ordinals.h"
#include "src/core/placement/tenant.h"

namespace hodei::core {

class TenantTable {
 public:
  using All = std::map<Namespace, std::unique_ptr<Tenant>>;

  // Tenants that are remembered although none of their jobs waits or runs. Forgetting one costs at most one turn:
  // whether its last job was placed a moment ago.
  static constexpr size_t kMaxIdle = 1024;

  explicit TenantTable(Ordinals& ordinals) : ordinals_(ordinals) {}

  // A tenant exists from its first job or setting until a while after its last.
  Tenant* at(const Namespace& ns);
  const Tenant* find(const Namespace& ns) const;
  const All& all() const { return all_; }
  // What to keep in a head: the interned name shared by all jobs of the tenant.
  Namespace shared(const Namespace& ns) const;

  Tenant& set(const TenantRow& row);
  void rest_if_idle(Tenant* tenant);  // call after something of the tenant has ended

  void served(const Lane& lane);  // a job of this lane was placed: its tenant moves back
  // The first job has joined a lane, or the last one has left it.
  void count_lane(const Lane& lane, bool has_jobs);

 private:
  Ordinals& ordinals_;
  All all_;
  std::map<uint64_t, Tenant*> idle_;  // longest idle first
  uint64_t idle_count_ = 0;
  std::array<uint64_t, kPriorities> last_pass_{};
};

}  // namespace hodei::core
