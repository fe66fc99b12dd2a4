// `hodei queue`, `status`, `scheduler`, `version`
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/exit_code.h"
#include "src/cli/job_view.h"
#include "src/cli/local_commands.h"
#include "src/cli/quantities.h"
#include "src/cli/session.h"
#include "src/cli/suggestion.h"
#include "src/cli/table.h"

namespace hodei::cli {
namespace {

template <class Map>
std::string counts(const Map& map) {
  std::map<std::string, int64_t> sorted(map.begin(), map.end());
  std::string out;
  for (const auto& [name, count] : sorted) out += cat(out.empty() ? "" : ", ", count, " ", name);
  return out;
}

absl::StatusOr<std::string> queue_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::QueueStatus queue, session.client().queue_status());
  if (const auto data = session.data_text(queue)) return *data;
  FieldList fields;
  fields.add("Pending", cat(queue.pending()));
  fields.add("  by priority", counts(queue.pending_by_priority()));
  fields.add("  by namespace", counts(queue.pending_by_namespace()));
  fields.add("  in back-off", cat(queue.delayed()));
  fields.add("  held by a key", cat(queue.held_by_key()));
  fields.add("  shapes", cat(queue.shapes()));
  fields.add("Scheduled", cat(queue.scheduled()));
  fields.add("Running", cat(queue.running()));
  fields.add("Workers", cat(queue.workers_available(), " of ", queue.workers(), " available"));
  fields.add("Slots", cat(queue.slots_free(), " of ", queue.slots(), " free"));
  return cat(paint("Queue", Colour::Bold, session.colours()), "\n", fields.text(session.colours()));
}

std::string pid(int64_t number) { return number > 0 ? cat(number) : std::string(); }

absl::StatusOr<std::string> status_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::SystemStatus status, session.client().system_status());
  if (const auto data = session.data_text(status)) return *data;
  const std::string state = v1::SystemStatus::State_Name(status.state());
  if (session.form() == OutputForm::Name) return state + "\n";
  FieldList fields;
  fields.add("State", state, colour_of_state(state));
  fields.add("Reason", status.reason());
  fields.add("Address", status.address());
  fields.add("Version", status.version());
  fields.add("Up for", age(status.started_at(), session.io.clock->now().wall));
  fields.add("Jobs", cat(status.jobs_pending(), " pending, ", status.jobs_running(), " running"));
  fields.add("Workers", cat(status.workers(), ", ", status.workers_unhealthy(), " unhealthy"));
  fields.add("Store", cat(status.store(), " in ", status.data_dir()));
  fields.add("Commits", cat(status.commits()));
  fields.add("Epoch", cat(status.epoch()));
  fields.add("Memory", human_bytes(status.memory_bytes()));
  fields.add("Server pid", pid(status.server_pid()));
  fields.add("Supervisor pid", pid(status.supervisor_pid()));
  fields.add("Agent pid", pid(status.agent_pid()));
  return cat(paint("Hodei", Colour::Bold, session.colours()), "\n", fields.text(session.colours()));
}

std::string scheduler_page(const v1::SchedulerConfig& config, const Session& session) {
  FieldList fields;
  fields.add("Strategy", v1::SchedulerConfig::Strategy_Name(config.strategy()));
  fields.add("Free capacity", cat(config.weight_capacity()));
  fields.add("Low load", cat(config.weight_load()));
  fields.add("Affinity", cat(config.weight_affinity()));
  fields.add("Zone", cat(config.weight_zone()));
  fields.add("History", cat(config.weight_history()));
  fields.add("Threshold", cat(config.threshold()));
  return cat(paint("Scheduler", Colour::Bold, session.colours()), "\n", fields.text(session.colours()));
}

absl::StatusOr<std::string> scheduler_text(Session& session, const v1::ConfigureSchedulerRequest& request) {
  ASSIGN_OR_RETURN(const v1::SchedulerConfig config, session.client().configure_scheduler(request));
  return session.data_text(config).value_or(scheduler_page(config, session));
}

struct SchedulerFlags {
  std::string strategy;
  std::optional<double> capacity, load, affinity, zone, history, threshold;
};

absl::StatusOr<v1::ConfigureSchedulerRequest> make_scheduler_request(const SchedulerFlags& flags) {
  v1::ConfigureSchedulerRequest request;
  if (!flags.strategy.empty()) {
    std::string word = flags.strategy;
    std::replace(word.begin(), word.end(), '-', '_');
    v1::SchedulerConfig::Strategy strategy{};
    if (!v1::SchedulerConfig::Strategy_Parse(word, &strategy) || strategy == 0) {
      const std::vector<std::string> words = {"smart", "round-robin", "least-connections", "resource-priority",
                                              "affinity"};
      return bad_field("--strategy", "'", flags.strategy,
                       "' is not one of smart, round-robin, least-connections, resource-priority, affinity",
                       did_you_mean(flags.strategy, words));
    }
    request.set_strategy(strategy);
  }
  if (flags.capacity) request.set_weight_capacity(*flags.capacity);
  if (flags.load) request.set_weight_load(*flags.load);
  if (flags.affinity) request.set_weight_affinity(*flags.affinity);
  if (flags.zone) request.set_weight_zone(*flags.zone);
  if (flags.history) request.set_weight_history(*flags.history);
  if (flags.threshold) request.set_threshold(*flags.threshold);
  if (request.ByteSizeLong() == 0)
    return absl::InvalidArgumentError("nothing to set\ngive --strategy, --capacity, … or use `hodei scheduler get`");
  return request;
}

void add_scheduler(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("scheduler", "how workers are chosen");
  group->require_subcommand(1);
  group->add_subcommand("get", "what is in force")->callback([&session] {
    session.action = [&session] { return session.show(scheduler_text(session, {})); };
  });
  CLI::App* set = group->add_subcommand("set", "change it while the server runs; what is not given is kept");
  auto flags = std::make_shared<SchedulerFlags>();
  set->add_option("--strategy", flags->strategy, "smart, round-robin, least-connections, resource-priority, affinity");
  set->add_option("--capacity", flags->capacity, "weight of free capacity")->type_name("WEIGHT");
  set->add_option("--load", flags->load, "weight of low load")->type_name("WEIGHT");
  set->add_option("--affinity", flags->affinity, "weight of matching labels")->type_name("WEIGHT");
  set->add_option("--zone", flags->zone, "weight of the preferred zone")->type_name("WEIGHT");
  set->add_option("--history", flags->history, "weight of past success")->type_name("WEIGHT");
  set->add_option("--threshold", flags->threshold, "a worker must score more than this")->type_name("SCORE");
  set->callback([&session, flags] {
    session.action = [&session, flags] {
      const absl::StatusOr<v1::ConfigureSchedulerRequest> request = make_scheduler_request(*flags);
      return request.ok() ? session.show(scheduler_text(session, *request)) : session.fail(request.status());
    };
  });
}

void add_view(CLI::App& root, Session& session, const std::string& name, const std::string& description,
              absl::StatusOr<std::string> (*text)(Session&)) {
  CLI::App* command = root.add_subcommand(name, description);
  auto watch = std::make_shared<bool>(false);
  command->add_flag("--watch", *watch, "show it again and again");
  command->callback([&session, watch, text] {
    session.action = [&session, watch, text] { return session.show(*watch, [&] { return text(session); }); };
  });
}

}  // namespace

void add_system_commands(CLI::App& root, Session& session) {
  add_view(root, session, "queue", "what waits and what runs, in numbers", queue_text);
  add_view(root, session, "status", "is the server there, and how is it; ends with 0 only if it answers", status_text);
  session.root->get_subcommand("status")->preparse_callback([&session](size_t) { session.asks_once = true; });
  add_scheduler(root, session);
  root.add_subcommand("version", "of this program")->callback([&session] {
    session.needs_settings = false;
    session.action = [&session] { return session.show(cat("hodei ", session.local.version, "\n")); };
  });
}

}  // namespace hodei::cli
