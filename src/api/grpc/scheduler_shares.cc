// SchedulerService: shares and quotas of tenants, limits of concurrency keys.
#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/scheduler_service.h"
#include "src/api/grpc/submissions.h"
#include "src/api/grpc/unary.h"
#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr double kMilli = 1000;

void fill_tenant(const core::TenantView& view, v1::Tenant* out) {
  out->set_namespace_(view.row.ns);
  out->set_weight(view.row.weight);
  out->set_max_running(view.row.max_running);
  out->set_max_cpu_cores(static_cast<double>(view.row.max_cpu_milli) / kMilli);
  out->set_max_memory_mb(view.row.max_memory_mb);
  out->set_max_pending(view.row.max_pending);
  out->set_running(view.running);
  out->set_pending(view.pending);
  out->set_cpu_cores(static_cast<double>(view.used.cpu_milli) / kMilli);
  out->set_memory_mb(view.used.memory_mb);
}

void fill_limit(const core::LimitView& view, v1::Limit* out) {
  out->set_namespace_(view.ns);
  out->set_key(view.key);
  out->set_limit(view.limit);
  out->set_rate(view.rate);
  out->set_burst(view.burst);
  out->set_held(view.held);
  out->set_waiting(view.waiting);
  out->set_is_set(view.is_set);
}

std::optional<int64_t> given(bool has, int64_t value) { return has ? std::optional<int64_t>(value) : std::nullopt; }

}  // namespace

SchedulerService::Unary* SchedulerService::ListTenants(Context* c, const v1::ListTenantsRequest*,
                                                       v1::ListTenantsResponse* out) {
  return decide<core::TenantViews>(server_, c, core::Question(core::DescribeTenants{}),
                                   [out](const core::TenantViews& all) {
                                     for (const core::TenantView& view : all.tenants)
                                       fill_tenant(view, out->add_tenants());
                                   });
}

SchedulerService::Unary* SchedulerService::SetTenant(Context* c, const v1::SetTenantRequest* in, v1::Tenant* out) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  core::SetTenant command;
  command.ns = *ns;
  command.principal = principal_of(*c);
  if (in->has_weight()) command.weight = in->weight();
  command.max_running = given(in->has_max_running(), in->max_running());
  command.max_memory_mb = given(in->has_max_memory_mb(), in->max_memory_mb());
  command.max_pending = given(in->has_max_pending(), in->max_pending());
  if (in->has_max_cpu_cores()) {
    const double most = static_cast<double>(core::kMaxQuota) / kMilli;
    const absl::Status usable = check_within("max_cpu_cores", in->max_cpu_cores(), 0, most, " (0: no quota)");
    if (!usable.ok()) return finish(c, usable);
    command.max_cpu_milli = bounded_whole(in->max_cpu_cores() * kMilli, 0, core::kMaxQuota);
  }
  return decide<core::TenantViews>(server_, c, command,
                                   [out](const core::TenantViews& one) { fill_tenant(one.tenants[0], out); });
}

SchedulerService::Unary* SchedulerService::ListLimits(Context* c, const v1::ListLimitsRequest* in,
                                                      v1::ListLimitsResponse* out) {
  return decide<core::LimitViews>(server_, c, core::Question(core::DescribeLimits{in->namespace_(), ""}),
                                  [out](const core::LimitViews& all) {
                                    for (const core::LimitView& view : all.limits) fill_limit(view, out->add_limits());
                                  });
}

SchedulerService::Unary* SchedulerService::SetLimit(Context* c, const v1::SetLimitRequest* in, v1::Limit* out) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  core::SetLimit command;
  command.ns = *ns;
  command.key = in->key();
  command.principal = principal_of(*c);
  command.limit = given(in->has_limit(), in->limit());
  if (in->has_rate()) command.rate = in->rate();
  command.burst = given(in->has_burst(), in->burst());
  return decide<core::LimitViews>(server_, c, command,
                                  [out](const core::LimitViews& one) { fill_limit(one.limits[0], out); });
}

SchedulerService::Unary* SchedulerService::RemoveLimit(Context* c, const v1::RemoveLimitRequest* in,
                                                       v1::RemoveLimitResponse*) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  return decide<core::Done>(server_, c, core::DropLimit{*ns, in->key(), principal_of(*c)}, [](const core::Done&) {});
}

}  // namespace hodei::api
