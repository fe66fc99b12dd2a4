#include "src/core/placement/tenant.h"

#include <algorithm>
#include <cmath>

#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

absl::Status check_quota(std::string_view field, int64_t value) {
  if (value >= 0 && value <= kMaxQuota) return absl::OkStatus();
  return bad_field(field, "must be from 0 (no quota) to ", kMaxQuota, ", not ", value);
}

// How often `needs` goes into what is left of a quota.
int64_t times(int64_t quota, int64_t used, int64_t needs) {
  if (quota == 0 || needs == 0) return INT64_MAX;
  return std::max<int64_t>(quota - used, 0) / needs;
}

bool none_fits(int64_t quota, int64_t used, const std::map<int64_t, uint32_t>& waiting) {
  return quota > 0 && !waiting.empty() && times(quota, used, waiting.begin()->first) == 0;
}

void count(std::map<int64_t, uint32_t>& needs, int64_t amount, bool more) {
  const auto it = needs.try_emplace(amount, 0).first;
  it->second += more ? 1 : -1;
  if (it->second == 0) needs.erase(it);
}

}  // namespace

std::string encode(const TenantRow& r) {
  Encoder out;
  out.text(r.ns).i64(std::llround(r.weight / kWeightStep)).i64(r.max_running).i64(r.max_cpu_milli);
  out.i64(r.max_memory_mb).i64(r.max_pending);
  return out.take();
}

TenantRow decode_tenant(std::string_view bytes) {
  Decoder in(bytes);
  TenantRow r;
  r.ns = in.text();
  r.weight = bounded(static_cast<double>(in.i64()) * kWeightStep, kMinWeight, kMaxWeight, 1);
  r.max_running = in.i64();
  r.max_cpu_milli = in.i64();
  r.max_memory_mb = in.i64();
  r.max_pending = in.i64();
  return r;
}

absl::Status validate(const TenantRow& r) {
  RETURN_IF_ERROR(check_name("namespace", r.ns));
  RETURN_IF_ERROR(check_within("weight", r.weight, kMinWeight, kMaxWeight, " (use quotas to limit a tenant)"));
  RETURN_IF_ERROR(check_quota("max_running", r.max_running));
  RETURN_IF_ERROR(check_quota("max_cpu_cores", r.max_cpu_milli));
  RETURN_IF_ERROR(check_quota("max_memory_mb", r.max_memory_mb));
  return check_quota("max_pending", r.max_pending);
}

void Tenant::set(const TenantRow& wanted) {
  row = wanted;
  stride = static_cast<uint64_t>(std::llround(static_cast<double>(kStride) / row.weight));
}

int64_t Tenant::room(const Amounts& needs) const {
  const int64_t slots = times(row.max_running, running, 1);
  const int64_t cpu = times(row.max_cpu_milli, used.cpu_milli, needs.cpu_milli);
  return std::min({slots, cpu, times(row.max_memory_mb, used.memory_mb, needs.memory_mb)});
}

bool Tenant::over_quota() const {
  if (times(row.max_running, running, 1) == 0) return true;
  return none_fits(row.max_cpu_milli, used.cpu_milli, cpu_waiting) ||
         none_fits(row.max_memory_mb, used.memory_mb, memory_waiting);
}

void Tenant::count_lane(const Amounts& needs, bool has_jobs) {
  count(cpu_waiting, needs.cpu_milli, has_jobs);
  count(memory_waiting, needs.memory_mb, has_jobs);
}

}  // namespace hodei::core
