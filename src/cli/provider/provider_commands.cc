// `hodei provider …`: what makes workers.
#include <CLI/CLI.hpp>

#include "src/base/finite.h"
#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/provider/provider_view.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/utf8.h"

namespace hodei::cli {
namespace {

constexpr int64_t kMostWorkersOfAProvider = 10'000;

struct ProviderFlags {
  std::string name, type, max_workers, max_jobs, preference, cost, server_address;
  std::vector<std::string> options, labels;
};

ViewOptions view(const Session& session) {
  return {session.style(), session.form() == OutputForm::Wide, session.io.clock->now().wall};
}

absl::StatusOr<int64_t> number(std::string_view flag, const std::string& text, int64_t low, int64_t high) {
  const absl::StatusOr<int64_t> n = parse_count(text, low, high);
  if (!n.ok()) return bad_field(flag, std::string(n.status().message()));
  return n;
}

absl::StatusOr<double> cost_of(const std::string& text) {
  const absl::StatusOr<double> cost = parse_number(text);
  if (!cost.ok() || !is_within(*cost, 0, 1e6))
    return bad_field("--cost", "'", text, "' is not a number from 0 to 1000000");
  return cost;
}

template <class Map>
absl::Status put_pairs(std::string_view flag, const std::vector<std::string>& texts, Map& map) {
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const KeyValue pair, parse_key_value(flag, text));
    map[pair.key] = pair.value;
  }
  return absl::OkStatus();
}

// RegisterProvider's config and UpdateProvider's request have the same fields.
template <class Words>
absl::Status fill(const ProviderFlags& flags, Words& out) {
  if (!flags.max_workers.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, number("--max-workers", flags.max_workers, 0, kMostWorkersOfAProvider));
    out.set_max_workers(static_cast<int>(n));
  }
  if (!flags.max_jobs.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, number("--max-jobs", flags.max_jobs, 0, INT32_MAX));
    out.set_max_concurrent_jobs(static_cast<int>(n));
  }
  if (!flags.preference.empty()) {
    ASSIGN_OR_RETURN(const int64_t n, number("--preference", flags.preference, -1'000'000, 1'000'000));
    out.set_preference(n);
  }
  if (!flags.cost.empty()) {
    ASSIGN_OR_RETURN(const double cost, cost_of(flags.cost));
    out.set_cost(cost);
  }
  if (!flags.server_address.empty()) out.set_server_address(flags.server_address);
  RETURN_IF_ERROR(put_pairs("--option", flags.options, *out.mutable_options()));
  RETURN_IF_ERROR(put_pairs("--label", flags.labels, *out.mutable_labels()));
  return check_utf8(out);
}

std::string told(const Session& session, const v1::Provider& provider, std::string_view what) {
  if (const auto data = session.data_text(provider)) return *data;
  if (session.form() == OutputForm::Name) return provider.config().name() + "\n";
  return cat("provider ", provider.config().name(), " ", what, "\n");
}

absl::StatusOr<std::string> add_text(Session& session, const ProviderFlags& flags) {
  v1::RegisterProviderRequest request;
  v1::ProviderConfig& config = *request.mutable_config();
  config.set_name(flags.name);
  config.set_type(flags.type);
  RETURN_IF_ERROR(fill(flags, config));
  ASSIGN_OR_RETURN(const v1::Provider provider, session.client().register_provider(request));
  return told(session, provider, "added; check it with `hodei provider health`");
}

absl::StatusOr<std::string> provider_set_text(Session& session, const ProviderFlags& flags) {
  v1::UpdateProviderRequest request;
  request.set_name(flags.name);
  RETURN_IF_ERROR(fill(flags, request));
  ASSIGN_OR_RETURN(const v1::Provider provider, session.client().update_provider(request));
  return told(session, provider, "changed");
}

absl::StatusOr<std::string> mode_text(Session& session, const std::string& name, v1::ProviderConfig::Mode mode,
                                      std::string_view what) {
  v1::UpdateProviderRequest request;
  request.set_name(name);
  request.set_mode(mode);
  ASSIGN_OR_RETURN(const v1::Provider provider, session.client().update_provider(request));
  return told(session, provider, what);
}

absl::StatusOr<std::string> provider_list_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::ListProvidersResponse answer, session.client().list_providers());
  std::vector<const google::protobuf::Message*> messages;
  std::string names;
  for (const v1::Provider& one : answer.providers()) messages.push_back(&one), names += one.config().name() + "\n";
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (messages.empty()) session.note("no providers; add one with `hodei provider add NAME --type TYPE`");
  return provider_table(answer, view(session));
}

absl::StatusOr<std::string> provider_get_text(Session& session, const std::string& name) {
  ASSIGN_OR_RETURN(const v1::Provider provider, session.client().get_provider(name));
  if (const auto data = session.data_text(provider)) return *data;
  if (session.form() == OutputForm::Name) return provider.config().name() + "\n";
  return provider_page(provider, view(session));
}

// For scripts: ends with 1 when it is not well.
int health(Session& session, const std::string& name) {
  const absl::StatusOr<v1::ProviderHealth> health = session.client().provider_health(name);
  if (!health.ok()) return session.fail(health.status());
  const auto data = session.data_text(*health);
  session.print(data                                 ? *data
                : session.form() == OutputForm::Name ? name + "\n"
                                                     : health_text(name, *health, view(session)));
  const bool is_well =
      health->state() == v1::ProviderHealth::Healthy || health->state() == v1::ProviderHealth::Degraded;
  return is_well ? kOk : kRefused;
}

absl::StatusOr<std::string> provider_remove_text(Session& session, const std::string& name) {
  RETURN_IF_ERROR(session.client().remove_provider(name));
  return session.done_text("provider", name, "removed", cat("provider ", name, " deleted"));
}

void add_shared_flags(CLI::App& command, ProviderFlags& flags, bool is_change) {
  const std::string removes = is_change ? "; KEY= removes one" : "";
  repeatable(command, "--option", flags.options, "an option of this type of provider, see docs/providers" + removes)
      ->type_name("KEY=VALUE");
  repeatable(command, "--label", flags.labels, "a label for every worker it creates" + removes)->type_name("KEY=VALUE");
  command
      .add_option("--max-workers", flags.max_workers, "maximum number of workers at once; 0: as many as it can create")
      ->type_name("N");
  command.add_option("--max-jobs", flags.max_jobs, "maximum number of jobs on its workers; 0: no limit")
      ->type_name("N");
  command.add_option("--preference", flags.preference, "the provider with the higher preference is used first")
      ->type_name("N");
  command.add_option("--cost", flags.cost, "cost per worker and hour; the lower is used first")->type_name("X");
  command.add_option("--server-address", flags.server_address, "address at which its workers reach the server")
      ->type_name("HOST:PORT");
}

CLI::App* named_command(CLI::App& group, const char* command, const char* what, std::string& name) {
  CLI::App* out = group.add_subcommand(command, what);
  out->add_option("name", name, "name of the provider")->required()->type_name("NAME");
  return out;
}

void add_changes(CLI::App& group, Session& session) {
  auto added = std::make_shared<ProviderFlags>();
  CLI::App* add = named_command(group, "add", "Add a provider; its options are checked", added->name);
  add->add_option("--type", added->type,
                  "process, docker, kubernetes, firecracker, baremetal, custom, ec2, azurevm, cloudrun, lambda")
      ->required()
      ->type_name("TYPE");
  add_shared_flags(*add, *added, false);
  add->callback(
      [&session, added] { session.action = [&session, added] { return session.show(add_text(session, *added)); }; });
  auto changed = std::make_shared<ProviderFlags>();
  CLI::App* set = named_command(group, "set", "Change a provider; settings that are not given are kept", changed->name);
  add_shared_flags(*set, *changed, true);
  set->callback([&session, changed] {
    session.action = [&session, changed] { return session.show(provider_set_text(session, *changed)); };
  });
}

void add_modes(CLI::App& group, Session& session) {
  struct Mode {
    const char* command;
    const char* what;
    v1::ProviderConfig::Mode mode;
    const char* told;
  };
  static constexpr Mode kModes[] = {
      {"enable", "Let it create workers again", v1::ProviderConfig::enabled, "enabled"},
      {"disable", "Create no new workers and remove idle ones", v1::ProviderConfig::disabled,
       "disabled; its idle workers are being removed"},
      {"maintenance", "Create no new workers; existing ones continue", v1::ProviderConfig::maintenance,
       "in maintenance; its workers continue"},
  };
  for (const Mode& mode : kModes) {
    auto name = std::make_shared<std::string>();
    named_command(group, mode.command, mode.what, *name)->callback([&session, &mode, name] {
      session.action = [&session, &mode, name] {
        return session.show(mode_text(session, *name, mode.mode, mode.told));
      };
    });
  }
}

}  // namespace

void add_provider_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("provider", "Manage providers, which create workers on demand");
  group->require_subcommand(1);
  add_changes(*group, session);
  CLI::App* list = group->add_subcommand("list", "List providers");
  list->alias("ls");
  auto watch = std::make_shared<bool>(false);
  list->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  list->callback([&session, watch] {
    session.action = [&session, watch] { return session.show(*watch, [&] { return provider_list_text(session); }); };
  });
  auto shown = std::make_shared<std::string>();
  named_command(*group, "get", "Show a provider", *shown)->callback([&session, shown] {
    session.action = [&session, shown] { return session.show(provider_get_text(session, *shown)); };
  });
  auto asked = std::make_shared<std::string>();
  named_command(*group, "health", "Check a provider's health now", *asked)->callback([&session, asked] {
    session.action = [&session, asked] { return health(session, *asked); };
  });
  add_modes(*group, session);
  auto removed = std::make_shared<std::string>();
  CLI::App* remove = named_command(*group, "rm", "Delete a provider that has no workers", *removed);
  remove->alias("delete");
  remove->callback([&session, removed] {
    session.action = [&session, removed] { return session.show(provider_remove_text(session, *removed)); };
  });
}

}  // namespace hodei::cli
