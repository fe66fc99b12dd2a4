// Shares and quotas of tenants.
#include <algorithm>

#include "src/base/counted.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/core/engine.h"

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

TenantView view_of(const Tenant& tenant, const State& state) {
  const auto pending = state.waiting_by_namespace().find(tenant.ns.str());
  return {tenant.row, tenant.running, pending == state.waiting_by_namespace().end() ? 0 : pending->second, tenant.used};
}

}  // namespace

Engine::Answer Engine::on(const SetTenant& c, Now now, Turn& turn) {
  const Tenant* known = state_.roster().find_tenant(Namespace(c.ns));
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
    if (fresh && state_.setting_count(SettingKind::Tenant) >= kMaxTenantRows) {
      return absl::ResourceExhaustedError(cat(
          kMaxTenantRows,
          " tenants already have settings, which is the limit; reset one with `hodei tenant set NAME --weight 1` and "
          "quotas of 0"));
    }
    if (bytes == encode(usual)) {
      write(DeleteSetting{SettingKind::Tenant, c.ns}, turn);
    } else {
      write(PutSetting{{SettingKind::Tenant, c.ns, bytes}}, turn);
    }
    wake_tenant(Namespace(c.ns), now, turn);
    record_act(c.principal,
               {"tenant.set", c.ns,
                cat("weight ", row.weight, ", max_running ", row.max_running, ", max_cpu_milli ", row.max_cpu_milli,
                    ", max_memory_mb ", row.max_memory_mb, ", max_pending ", row.max_pending),
                c.ns},
               now, turn);
  }
  const Tenant* tenant = state_.roster().find_tenant(Namespace(c.ns));
  return TenantViews{{tenant == nullptr ? TenantView{.row = row} : view_of(*tenant, state_)}};
}

Engine::Answer Engine::answer(const DescribeTenants& q, Now) {
  TenantViews out;
  for (const auto& [ns, tenant] : state_.roster().tenants()) {
    if (!q.ns.empty() && q.ns != ns.str()) continue;
    TenantView view = view_of(*tenant, state_);
    const bool is_set = view.row != TenantRow{.ns = ns.str()};
    if (is_set || view.running > 0 || view.pending > 0) out.tenants.push_back(std::move(view));
  }
  return out;
}

absl::Status Engine::check_pending(const Submit& c) const {
  std::map<std::string, int64_t> fresh;
  for (const NewJob& job : c.jobs) {
    const Tenant* tenant = state_.roster().find_tenant(job.head.ns);
    if (tenant == nullptr || tenant->row.max_pending == 0) continue;
    // Who asks again for a job that is there gets it, however full the queue is.
    if (job.idempotency && (job.key_owner || state_.idempotent(*job.idempotency))) continue;
    const int64_t waiting = view_of(*tenant, state_).pending;
    if (waiting + ++fresh[tenant->ns.str()] <= tenant->row.max_pending) continue;
    return absl::ResourceExhaustedError(cat("tenant '", tenant->ns.str(), "' has ", counted(waiting, "waiting job"),
                                            " and its quota max_pending is ", tenant->row.max_pending,
                                            "; try again when some have started, or raise it: `hodei tenant set ",
                                            tenant->ns.str(), " --max-pending N`"));
  }
  return absl::OkStatus();
}

void Engine::wake_tenant(const Namespace& ns, Now now, Turn& turn) {
  const Tenant* tenant = state_.roster().find_tenant(ns);
  if (tenant == nullptr) return;
  // What fits on no worker may have one made now.
  making_.due |= std::any_of(tenant->lanes.begin(), tenant->lanes.end(), [](uint32_t lanes) { return lanes > 0; });
  while (Lane* lane = state_.roster().first_waiting_of(*tenant)) {
    const JobId first = lane->first();
    place_lane(lane, now, turn);
    const LiveJob* live = state_.job(first);
    if (live->where == LiveJob::Where::InLane) return;  // it fits, and is kept from it all the same
  }
}

std::string Engine::held_by_quota(const Lane& lane) const {
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

}  // namespace hodei::core
