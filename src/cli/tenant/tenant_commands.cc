// `hodei tenant …` and `hodei limit …`
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/tenant/tenant_calls.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/utf8.h"

namespace hodei::cli {
namespace {

template <class T>
absl::StatusOr<T> naming_field(std::string_view flag, absl::StatusOr<T> value) {
  if (value.ok()) return value;
  return bad_field(flag, std::string(value.status().message()));
}

// "3 of 10", and without a quota "3".
template <class N>
std::string of_quota(N used, N most) {
  return most > 0 ? cat(used, " of ", most) : cat(used);
}

std::string of_quota_bytes(int64_t used, int64_t most) {
  return most > 0 ? cat(human_bytes(used), " of ", human_bytes(most)) : human_bytes(used);
}

std::string tenant_table(const Session& session, const std::vector<const v1::Tenant*>& tenants) {
  Table table({"TENANT", "WEIGHT", "RUNNING", "CPU", "MEMORY", "WAITING"});
  for (const v1::Tenant* t : tenants) {
    table.add({t->namespace_(), cat(t->weight()), of_quota(t->running(), t->max_running()),
               of_quota(t->cpu_cores(), t->max_cpu_cores()),
               of_quota_bytes(t->memory_mb() << 20, t->max_memory_mb() << 20),
               of_quota(t->pending(), t->max_pending())});
  }
  return table.text(session.style());
}

absl::StatusOr<std::string> tenants_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::ListTenantsResponse answer, list_tenants(session.client()));
  std::vector<const google::protobuf::Message*> messages;
  std::vector<const v1::Tenant*> tenants;
  std::string names;
  for (const v1::Tenant& tenant : answer.tenants()) {
    messages.push_back(&tenant);
    tenants.push_back(&tenant);
    names += tenant.namespace_() + "\n";
  }
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (tenants.empty()) session.note("no tenants have jobs or settings; all have weight 1 and no quotas");
  return tenant_table(session, tenants);
}

struct TenantFlags {
  std::string ns, weight, max_running, max_cpu, max_memory, max_pending;
};

absl::StatusOr<v1::SetTenantRequest> tenant_request(const TenantFlags& flags) {
  constexpr int64_t kMost = 1'000'000'000'000;
  v1::SetTenantRequest request;
  request.set_namespace_(flags.ns);
  if (!flags.weight.empty()) {
    ASSIGN_OR_RETURN(const double weight, naming_field("--weight", parse_number(flags.weight)));
    request.set_weight(weight);
  }
  if (!flags.max_running.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, naming_field("--max-running", parse_count(flags.max_running, 0, kMost)));
    request.set_max_running(n);
  }
  if (!flags.max_cpu.empty()) {
    ASSIGN_OR_RETURN(const int64_t milli, naming_field("--max-cpu", parse_cores(flags.max_cpu)));
    request.set_max_cpu_cores(static_cast<double>(milli) / 1000);
  }
  if (!flags.max_memory.empty()) {
    ASSIGN_OR_RETURN(const int64_t mb, naming_field("--max-memory", parse_megabytes(flags.max_memory)));
    request.set_max_memory_mb(mb);
  }
  if (!flags.max_pending.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, naming_field("--max-pending", parse_count(flags.max_pending, 0, kMost)));
    request.set_max_pending(n);
  }
  return request;
}

absl::StatusOr<std::string> set_tenant_text(Session& session, const TenantFlags& flags) {
  ASSIGN_OR_RETURN(const v1::SetTenantRequest request, tenant_request(flags));
  RETURN_IF_ERROR(check_utf8(request));
  ASSIGN_OR_RETURN(const v1::Tenant tenant, set_tenant(session.client(), request));
  if (const auto data = session.data_text(tenant)) return *data;
  if (session.form() == OutputForm::Name) return tenant.namespace_() + "\n";
  return tenant_table(session, {&tenant});
}

std::string limit_table(const Session& session, const std::vector<const v1::Limit*>& limits) {
  Table table({"KEY", "NAMESPACE", "HELD", "LIMIT", "WAITING", "RATE", "BURST", "SET BY"});
  for (const v1::Limit* l : limits) {
    table.add({printable(l->key()), l->namespace_(), cat(l->held()), l->limit() == 0 ? "none" : cat(l->limit()),
               cat(l->waiting()), l->rate() == 0 ? "none" : human_rate(l->rate()),
               l->rate() == 0 ? "" : cat(l->burst()), l->is_set() ? "user" : "jobs"});
  }
  return table.text(session.style());
}

absl::StatusOr<std::string> limits_text(Session& session) {
  v1::ListLimitsRequest request;
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::ListLimitsResponse answer, list_limits(session.client(), request));
  std::vector<const google::protobuf::Message*> messages;
  std::vector<const v1::Limit*> limits;
  std::string names;
  for (const v1::Limit& limit : answer.limits()) {
    messages.push_back(&limit);
    limits.push_back(&limit);
    names += limit.key() + "\n";
  }
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (limits.empty())
    session.note("no keys are in use and no limits are set; give a job a key with `--concurrency-key KEY`");
  return limit_table(session, limits);
}

struct LimitSetFlags {
  std::string key, limit, rate, burst;
};

absl::StatusOr<v1::SetLimitRequest> limit_request(const Session& session, const LimitSetFlags& flags) {
  v1::SetLimitRequest request;
  request.set_namespace_(session.name_space());
  request.set_key(flags.key);
  if (!flags.limit.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, naming_field("--limit", parse_count(flags.limit, 0, 1'000'000)));
    request.set_limit(n);
  }
  if (!flags.rate.empty()) {
    ASSIGN_OR_RETURN(const double rate, naming_field("--rate", parse_rate(flags.rate)));
    request.set_rate(rate);
  }
  if (!flags.burst.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, naming_field("--burst", parse_count(flags.burst, 1, 10'000)));
    request.set_burst(n);
  }
  return request;
}

absl::StatusOr<std::string> set_limit_text(Session& session, const LimitSetFlags& flags) {
  ASSIGN_OR_RETURN(const v1::SetLimitRequest request, limit_request(session, flags));
  RETURN_IF_ERROR(check_utf8(request));
  ASSIGN_OR_RETURN(const v1::Limit limit, set_limit(session.client(), request));
  if (const auto data = session.data_text(limit)) return *data;
  if (session.form() == OutputForm::Name) return limit.key() + "\n";
  return limit_table(session, {&limit});
}

absl::StatusOr<std::string> remove_limit_text(Session& session, const std::string& key) {
  v1::RemoveLimitRequest request;
  request.set_namespace_(session.name_space());
  request.set_key(key);
  RETURN_IF_ERROR(check_utf8(request));
  RETURN_IF_ERROR(remove_limit(session.client(), request));
  return session.done_text("limit", key, "removed", cat("key ", printable(key), ": limit removed; jobs set it again"));
}

void add_share_list(CLI::App& group, Session& session, const char* what,
                    absl::StatusOr<std::string> (*text)(Session&)) {
  CLI::App* command = group.add_subcommand("list", what);
  command->alias("ls");
  auto watch = std::make_shared<bool>(false);
  command->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  command->callback([&session, watch, text] {
    session.action = [&session, watch, text] { return session.show(*watch, [&] { return text(session); }); };
  });
}

void add_tenant(CLI::App& root, Session& session) {
  CLI::App* group =
      root.add_subcommand("tenant", "Show and set shares and quotas of tenants (a tenant is a namespace)");
  group->require_subcommand(1);
  add_share_list(*group, session, "List tenants that have jobs or settings", tenants_text);
  CLI::App* set =
      group->add_subcommand("set", "Change a tenant's share or quotas; settings that are not given are kept");
  auto flags = std::make_shared<TenantFlags>();
  set->add_option("namespace", flags->ns, "whose")->required()->type_name("NAMESPACE");
  set->add_option("--weight", flags->weight, "its share relative to other tenants, 0.001 to 1000 (1)")->type_name("N");
  set->add_option("--max-running", flags->max_running, "maximum number of executions at once; 0: no quota")
      ->type_name("N");
  set->add_option("--max-cpu", flags->max_cpu, "maximum number of CPU cores in use; 0: no quota")->type_name("CORES");
  set->add_option("--max-memory", flags->max_memory, "maximum memory in use: 512Mi, 64Gi; 0: no quota")
      ->type_name("SIZE");
  set->add_option("--max-pending", flags->max_pending, "maximum number of waiting jobs, more are refused; 0: no quota")
      ->type_name("N");
  set->callback([&session, flags] {
    session.action = [&session, flags] { return session.show(set_tenant_text(session, *flags)); };
  });
}

void add_limit(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("limit", "Show and set limits of concurrency keys");
  group->require_subcommand(1);
  add_share_list(*group, session, "List keys that are in use or have a limit, with running and waiting jobs",
                 limits_text);
  CLI::App* set =
      group->add_subcommand("set", "Set a key's limit or rate, overriding jobs; settings that are not given are kept");
  auto flags = std::make_shared<LimitSetFlags>();
  set->add_option("key", flags->key, "concurrency key of the jobs")->required()->type_name("KEY");
  set->add_option("--limit", flags->limit, "maximum number of jobs at once; 0: no limit")->type_name("N");
  set->add_option("--rate", flags->rate, "maximum rate of starts: 5/s, 100/m or 30/h; 0: no limit")->type_name("RATE");
  set->add_option("--burst", flags->burst, "starts allowed at once before the rate applies (1)")->type_name("N");
  set->callback([&session, flags] {
    session.action = [&session, flags] { return session.show(set_limit_text(session, *flags)); };
  });
  CLI::App* remove = group->add_subcommand("rm", "Remove the limit of a key; jobs set it again");
  remove->alias("delete");
  auto key = std::make_shared<std::string>();
  remove->add_option("key", *key, "the concurrency key")->required()->type_name("KEY");
  remove->callback(
      [&session, key] { session.action = [&session, key] { return session.show(remove_limit_text(session, *key)); }; });
}

}  // namespace

void add_tenant_commands(CLI::App& root, Session& session) {
  add_tenant(root, session);
  add_limit(root, session);
}

}  // namespace hodei::cli
