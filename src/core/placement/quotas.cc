#include "src/core/placement/quotas.h"

#include <algorithm>

#include "src/base/codec.h"
#include "src/base/counted.h"
#include "src/base/hash.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/core/placement/placer.h"

namespace hodei::core {
namespace {

// 1500 → "1.5"
std::string cores(int64_t milli) { return cat(static_cast<double>(milli) / 1000); }

std::string raise(const Tenant& tenant, std::string_view flag) {
  return cat("it frees up when one of its executions ends, or raise it: `hodei tenant set ", tenant.ns.str(), " ", flag,
             " N`");
}

std::string too_much(const Tenant& tenant, std::string_view quota, std::string_view flag, const std::string& most,
                     const std::string& used, const std::string& needs) {
  return cat("tenant '", tenant.ns.str(), "' is at its quota ", quota, " of ", most, ": its executions use ", used,
             " and this job needs ", needs, "; ", raise(tenant, flag));
}

}  // namespace

Answer Quotas::decide(const SetTenant& c, Turn& turn) {
  const Tenant* known = roster_.tenants.find(Namespace(c.ns));
  const TenantRow before = known != nullptr ? known->row : TenantRow{.ns = c.ns};
  TenantRow row = before;
  row.weight = c.weight.value_or(row.weight);
  row.max_running = c.max_running.value_or(row.max_running);
  row.max_cpu_milli = c.max_cpu_milli.value_or(row.max_cpu_milli);
  row.max_memory_mb = c.max_memory_mb.value_or(row.max_memory_mb);
  row.max_pending = c.max_pending.value_or(row.max_pending);
  RETURN_IF_ERROR(validate(row));
  const std::string bytes = encode(row);
  const TenantRow usual{.ns = c.ns};
  if (bytes != encode(before)) {
    const bool fresh = encode(before) == encode(usual);
    if (fresh && stored_.size() >= kMaxTenantRows) {
      return absl::ResourceExhaustedError(cat(
          kMaxTenantRows,
          " tenants already have settings, which is the limit; reset one with `hodei tenant set NAME --weight 1` and "
          "quotas of 0"));
    }
    if (bytes == encode(usual)) {
      turn.write(Erase<TenantRow>{c.ns});
    } else {
      turn.write(Put<TenantRow>{row});
    }
    wake(Namespace(c.ns), turn);
    audit_.record_act({"tenant.set", c.ns,
                       cat("weight ", row.weight, ", max_running ", row.max_running, ", max_cpu_milli ",
                           row.max_cpu_milli, ", max_memory_mb ", row.max_memory_mb, ", max_pending ", row.max_pending),
                       c.ns},
                      turn);
  }
  const Tenant* tenant = roster_.tenants.find(Namespace(c.ns));
  return TenantViews{{tenant == nullptr ? TenantView{.row = row} : view_of(*tenant)}};
}

Answer Quotas::decide(const DescribeTenants& q, Turn&) const {
  TenantViews out;
  for (const auto& [ns, tenant] : roster_.tenants.all()) {
    if (!q.ns.empty() && q.ns != ns.str()) continue;
    TenantView view = view_of(*tenant);
    const bool is_set = view.row != TenantRow{.ns = ns.str()};
    if (is_set || view.running > 0 || view.pending > 0) out.tenants.push_back(std::move(view));
  }
  return out;
}

TenantView Quotas::view_of(const Tenant& tenant) const {
  return {tenant.row, tenant.running, queue_.in_namespace(tenant.ns.str()), tenant.used};
}

bool Quotas::limits_pending(const Namespace& ns) const {
  const Tenant* tenant = roster_.tenants.find(ns);
  return tenant != nullptr && tenant->row.max_pending > 0;
}

absl::Status Quotas::check_pending(const Namespace& ns, std::map<std::string, int64_t>& fresh) const {
  const TenantRow& row = roster_.tenants.find(ns)->row;
  const int64_t waiting = queue_.in_namespace(ns.str());
  if (waiting + ++fresh[ns.str()] <= row.max_pending) return absl::OkStatus();
  return absl::ResourceExhaustedError(cat("tenant '", ns.str(), "' has ", counted(waiting, "waiting job"),
                                          " and its quota max_pending is ", row.max_pending,
                                          "; try again when some have started, or raise it: `hodei tenant set ",
                                          ns.str(), " --max-pending N`"));
}

void Quotas::wake(const Namespace& ns, Turn& turn) {
  const Tenant* tenant = roster_.tenants.find(ns);
  if (tenant == nullptr) return;
  // What fits on no worker may have one made now.
  const bool waits = std::any_of(tenant->lanes.begin(), tenant->lanes.end(), [](uint32_t lanes) { return lanes > 0; });
  if (waits) ports_.supply->look_soon();
  while (Lane* lane = roster_.first_waiting_of(*tenant)) {
    const JobId first = lane->first();
    placer_.place_lane(lane, turn);
    const LiveJob* live = ports_.jobs->find(first);
    if (live->where == LiveJob::Where::InLane) return;  // it fits, and is kept from it all the same
  }
}

std::string Quotas::held_by(const Lane& lane) const {
  const Tenant& tenant = *lane.tenant;
  const TenantRow& row = tenant.row;
  const Amounts& needs = lane.shape->shape->needs;
  if (tenant.admits(needs)) return "";
  if (row.max_running > 0 && tenant.running >= row.max_running) {
    return cat("tenant '", row.ns, "' is at its quota max_running: ", tenant.running, " of ", row.max_running,
               " executions; ", raise(tenant, "--max-running"));
  }
  if (row.max_cpu_milli > 0 && tenant.used.cpu_milli + needs.cpu_milli > row.max_cpu_milli) {
    return too_much(tenant, "max_cpu_cores", "--max-cpu", cores(row.max_cpu_milli), cores(tenant.used.cpu_milli),
                    cores(needs.cpu_milli));
  }
  return too_much(tenant, "max_memory_mb", "--max-memory", megabytes_text(row.max_memory_mb),
                  megabytes_text(tenant.used.memory_mb), megabytes_text(needs.memory_mb));
}

void Quotas::fold(const Put<TenantRow>& write) {
  const std::string bytes = encode(*write.row);
  stored_[write.row->ns] = hash64(bytes);
  roster_.set_tenant(decode_tenant(bytes));
}

void Quotas::fold(const Erase<TenantRow>& write) {
  stored_.erase(write.key);
  roster_.set_tenant(TenantRow{.ns = write.key});
}

uint64_t Quotas::digest() const {
  uint64_t sum = 0;
  for (const auto& [ns, hash] : stored_) sum += hash;
  for (const auto& [ns, tenant] : roster_.tenants.all()) {
    if (tenant->running == 0) continue;
    Encoder out;
    out.text(ns.str()).i64(tenant->running).i64(tenant->used.cpu_milli).i64(tenant->used.memory_mb);
    sum += hash64(out.bytes());
  }
  return sum;
}

}  // namespace hodei::core
