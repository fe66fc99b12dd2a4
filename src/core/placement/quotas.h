// The shares and quotas of tenants.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "src/core/audit/audit.h"
#include "src/core/placement/ports.h"
#include "src/core/placement/queue.h"
#include "src/core/placement/roster.h"
#include "src/core/placement/rows.h"
#include "src/core/routing.h"

namespace hodei::core {

class Placer;

class Quotas {
 public:
  Quotas(const PlacementPorts& ports, Roster& roster, const WaitingQueue& queue, Placer& placer, Audit& audit)
      : ports_(ports), roster_(roster), queue_(queue), placer_(placer), audit_(audit) {}

  Answer decide(const SetTenant& c, Turn& turn);
  Answer decide(const DescribeTenants& q, Turn& turn) const;

  // Whether the tenant has a quota of waiting jobs.
  bool limits_pending(const Namespace& ns) const;
  // Whether the tenant, which has such a quota, may have another waiting job, besides those of `fresh`, which is
  // counted up.
  absl::Status check_pending(const Namespace& ns, std::map<std::string, int64_t>& fresh) const;
  // One of its executions has ended, or its quotas were raised: its waiting jobs may now fit on any worker.
  void wake(const Namespace& ns, Turn& turn);
  std::string held_by(const Lane& lane) const;  // as text; empty: it is not

  void fold(const Put<TenantRow>& write);
  void fold(const Erase<TenantRow>& write);
  uint64_t digest() const;

 private:
  TenantView view_of(const Tenant& tenant) const;

  const PlacementPorts& ports_;
  Roster& roster_;
  const WaitingQueue& queue_;
  Placer& placer_;
  Audit& audit_;
  std::map<std::string, uint64_t> stored_;  // hashes of rows, by namespace
};

}  // namespace hodei::core
