// A tenant is a namespace. Its weight decides its share when several tenants compete; its quotas are the most it may
// have.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/base/ids.h"
#include "src/core/jobs/job.h"
#include "src/core/placement/lane_key.h"

namespace hodei::core {

// Set by people. A quota of 0 means no quota.
struct TenantRow {
  std::string ns;
  double weight = 1;          // in steps of kWeightStep
  int64_t max_running = 0;    // executions at once
  int64_t max_cpu_milli = 0;  // requested by its executions together
  int64_t max_memory_mb = 0;  // likewise
  int64_t max_pending = 0;    // waiting jobs; further ones are refused

  bool operator==(const TenantRow&) const = default;
};

inline constexpr double kMinWeight = 0.001;
inline constexpr double kMaxWeight = 1000;
inline constexpr double kWeightStep = 0.001;
inline constexpr int64_t kMaxQuota = 1'000'000'000'000;
inline constexpr size_t kMaxTenantRows = 10'000;

std::string encode(const TenantRow& row);
TenantRow decode_tenant(std::string_view bytes);
absl::Status validate(const TenantRow& row);

// How far a placement moves a tenant of weight 1 back. The largest weight still moves by 100, so the rounding error is
// below one percent; the smallest moves by 10^8, which fits into 64 bits 10^11 times.
inline constexpr uint64_t kStride = 100'000;
// How many placements a tenant may catch up on after it missed them because none of its jobs fitted.
inline constexpr uint64_t kMaxCatchUp = 64;

// Inside a priority class, tenants take turns: the one with the smallest pass is next.
struct Tenant {
  Namespace ns;
  Ordinal ordinal = 0;
  TenantRow row;
  uint64_t stride = kStride;
  std::array<uint64_t, kPriorities> pass{};
  std::array<uint32_t, kPriorities> lanes{};  // lanes with jobs
  uint32_t all_lanes = 0;                     // also lanes whose jobs wait for their keys
  uint64_t idle_since = 0;                    // a growing number; 0: in use

  // By its executions, from dispatch to proven end.
  int64_t running = 0;
  Amounts used;

  // The amounts its lanes with jobs ask for, and how many lanes do. Only with a quota for CPU or memory.
  std::map<int64_t, uint32_t> cpu_waiting;
  std::map<int64_t, uint32_t> memory_waiting;

  void set(const TenantRow& wanted);
  // Nothing waits, runs or is set: a new Tenant would be equal.
  bool is_idle() const { return all_lanes == 0 && running == 0 && row == TenantRow{.ns = row.ns}; }
  bool has_quota() const { return row.max_running > 0 || sums(); }
  bool sums() const { return row.max_cpu_milli > 0 || row.max_memory_mb > 0; }

  // Whether its quotas allow another execution with these needs, and how many.
  bool admits(const Amounts& needs) const { return !has_quota() || room(needs) > 0; }
  int64_t room(const Amounts& needs) const;
  // Whether the quotas allow none of its waiting jobs. Fast; may be false although none is allowed, but never wrongly
  // true.
  bool closed() const { return has_quota() && over_quota(); }

  void count_lane(const Amounts& needs, bool has_jobs);

 private:
  bool over_quota() const;
};

}  // namespace hodei::core
