// SchedulerService: shares and quotas of tenants, limits of concurrency keys.
#include "src/api/calls/decide.h"
#include "src/api/calls/scheduler/scheduler_calls.h"
#include "src/base/finite.h"
#include "src/base/status.h"
#include "src/spec/submission.h"

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

std::optional<int64_t> given_number(bool has, int64_t value) {
  return has ? std::optional<int64_t>(value) : std::nullopt;
}

}  // namespace

void list_tenants(const SchedulerPorts& p, const Call& call, const v1::ListTenantsRequest&,
                  Answer<v1::ListTenantsResponse> answer) {
  decide<core::TenantViews>(
      p.commands, call, core::Question(core::DescribeTenants{}), answer,
      [out = answer.out](const core::TenantViews& all) {
        for (const core::TenantView& view : all.tenants) fill_tenant(view, out->add_tenants());
      },
      Commands::Lane::Long);
}

void set_tenant(const SchedulerPorts& p, const Call& call, const v1::SetTenantRequest& in, Answer<v1::Tenant> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  core::SetTenant command;
  command.ns = *ns;
  if (in.has_weight()) command.weight = in.weight();
  command.max_running = given_number(in.has_max_running(), in.max_running());
  command.max_memory_mb = given_number(in.has_max_memory_mb(), in.max_memory_mb());
  command.max_pending = given_number(in.has_max_pending(), in.max_pending());
  if (in.has_max_cpu_cores()) {
    const double most = static_cast<double>(core::kMaxQuota) / kMilli;
    const absl::Status usable = check_within("max_cpu_cores", in.max_cpu_cores(), 0, most, " (0: no quota)");
    if (!usable.ok()) return answer.give(usable);
    command.max_cpu_milli = bounded_whole(in.max_cpu_cores() * kMilli, 0, core::kMaxQuota);
  }
  decide<core::TenantViews>(p.commands, call, command, answer,
                            [out = answer.out](const core::TenantViews& one) { fill_tenant(one.tenants[0], out); });
}

void list_limits(const SchedulerPorts& p, const Call& call, const v1::ListLimitsRequest& in,
                 Answer<v1::ListLimitsResponse> answer) {
  decide<core::LimitViews>(
      p.commands, call, core::Question(core::DescribeLimits{in.namespace_(), ""}), answer,
      [out = answer.out](const core::LimitViews& all) {
        for (const core::LimitView& view : all.limits) fill_limit(view, out->add_limits());
      },
      Commands::Lane::Long);
}

void set_limit(const SchedulerPorts& p, const Call& call, const v1::SetLimitRequest& in, Answer<v1::Limit> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  core::SetLimit command;
  command.ns = *ns;
  command.key = in.key();
  command.limit = given_number(in.has_limit(), in.limit());
  if (in.has_rate()) command.rate = in.rate();
  command.burst = given_number(in.has_burst(), in.burst());
  decide<core::LimitViews>(p.commands, call, command, answer,
                           [out = answer.out](const core::LimitViews& one) { fill_limit(one.limits[0], out); });
}

void remove_limit(const SchedulerPorts& p, const Call& call, const v1::RemoveLimitRequest& in,
                  Answer<v1::RemoveLimitResponse> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  decide<core::Done>(p.commands, call, core::DropLimit{*ns, in.key()}, std::move(answer), [](const core::Done&) {});
}

}  // namespace hodei::api
