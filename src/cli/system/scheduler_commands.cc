// `hodei scheduler get|set`
#include <CLI/CLI.hpp>

#include <charconv>

#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

const std::vector<std::string> kStrategies = {"smart", "round-robin", "least-connections", "resource-priority",
                                              "affinity"};
const std::vector<std::string> kWeights = {"capacity", "load", "affinity", "zone", "history"};

std::string seconds(int64_t ms) { return ms % 1000 == 0 ? cat(ms / 1000, " s") : cat(ms, " ms"); }

std::string page(const v1::SchedulerConfig& config, const Session& session) {
  FieldList fields;
  std::string strategy = v1::SchedulerConfig::Strategy_Name(config.strategy());
  std::replace(strategy.begin(), strategy.end(), '_', '-');
  fields.add("Strategy", strategy);
  fields.add("Packing", v1::SchedulerConfig::Packing_Name(config.packing()));
  fields.add("Weights", "");
  fields.add("  capacity", cat(config.weight_capacity()));
  fields.add("  load", cat(config.weight_load()));
  fields.add("  affinity", cat(config.weight_affinity()));
  fields.add("  zone", cat(config.weight_zone()));
  fields.add("  history", cat(config.weight_history()));
  fields.add("Threshold", cat(config.threshold()));
  fields.add("Preemption", config.preemption() ? "on" : "off");
  fields.add("Reserve after",
             config.reserve_after_ms() == 0 ? std::string("never") : seconds(config.reserve_after_ms()));
  return cat(paint("Scheduler", Colour::Bold, session.colours()), "\n", fields.text(session.style()));
}

absl::StatusOr<std::string> text(Session& session, const v1::ConfigureSchedulerRequest& request) {
  ASSIGN_OR_RETURN(const v1::SchedulerConfig config, session.client().configure_scheduler(request));
  if (session.form() == OutputForm::Name) return std::string("scheduler\n");
  return session.data_text(config).value_or(page(config, session));
}

struct Flags {
  std::string strategy, packing, preemption, reserve_after;
  std::vector<std::string> weights;
  std::optional<double> capacity, load, affinity, zone, history, threshold;
};

absl::Status set_strategy(const Flags& flags, v1::ConfigureSchedulerRequest& request) {
  if (!flags.strategy.empty()) {
    std::string word = flags.strategy;
    std::replace(word.begin(), word.end(), '-', '_');
    v1::SchedulerConfig::Strategy strategy{};
    if (!v1::SchedulerConfig::Strategy_Parse(word, &strategy) || strategy == 0) {
      return bad_field("--strategy", "'", flags.strategy,
                       "' is not one of smart, round-robin, least-connections, resource-priority, affinity",
                       did_you_mean(flags.strategy, kStrategies));
    }
    request.set_strategy(strategy);
  }
  if (!flags.packing.empty()) {
    v1::SchedulerConfig::Packing packing{};
    if (!v1::SchedulerConfig::Packing_Parse(flags.packing, &packing) || packing == 0) {
      return bad_field("--packing", "'", flags.packing, "' is not one of spread, pack",
                       did_you_mean(flags.packing, {"spread", "pack"}));
    }
    request.set_packing(packing);
  }
  return absl::OkStatus();
}

absl::Status set_weight(const std::string& typed, v1::ConfigureSchedulerRequest& request) {
  ASSIGN_OR_RETURN(const KeyValue pair, parse_key_value("--weight", typed));
  const absl::StatusOr<double> number = parse_number(pair.value);
  if (!number.ok()) return bad_field("--weight", "'", pair.value, "' is not a number; write ", pair.key, "=30");
  const double value = *number;
  if (pair.key == "capacity") return request.set_weight_capacity(value), absl::OkStatus();
  if (pair.key == "load") return request.set_weight_load(value), absl::OkStatus();
  if (pair.key == "affinity") return request.set_weight_affinity(value), absl::OkStatus();
  if (pair.key == "zone") return request.set_weight_zone(value), absl::OkStatus();
  if (pair.key == "history") return request.set_weight_history(value), absl::OkStatus();
  return bad_field("--weight", "'", pair.key, "' is not one of capacity, load, affinity, zone, history",
                   did_you_mean(pair.key, kWeights));
}

absl::Status set_weights(const Flags& flags, v1::ConfigureSchedulerRequest& request) {
  if (flags.capacity) request.set_weight_capacity(*flags.capacity);
  if (flags.load) request.set_weight_load(*flags.load);
  if (flags.affinity) request.set_weight_affinity(*flags.affinity);
  if (flags.zone) request.set_weight_zone(*flags.zone);
  if (flags.history) request.set_weight_history(*flags.history);
  if (flags.threshold) request.set_threshold(*flags.threshold);
  for (const std::string& typed : flags.weights) RETURN_IF_ERROR(set_weight(typed, request));
  return absl::OkStatus();
}

absl::Status set_room(const Flags& flags, v1::ConfigureSchedulerRequest& request) {
  if (!flags.preemption.empty()) {
    if (flags.preemption != "on" && flags.preemption != "off") {
      return bad_field("--preemption", "must be on or off, not '", flags.preemption, "'");
    }
    request.set_preemption(flags.preemption == "on");
  }
  if (flags.reserve_after == "never") {
    request.set_reserve_after_ms(0);
  } else if (!flags.reserve_after.empty()) {
    const absl::StatusOr<int64_t> time = parse_milliseconds(flags.reserve_after);
    if (!time.ok()) return bad_field("--reserve-after", std::string(time.status().message()), "; or never");
    request.set_reserve_after_ms(*time);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::ConfigureSchedulerRequest> make_request(const Flags& flags) {
  v1::ConfigureSchedulerRequest request;
  RETURN_IF_ERROR(set_strategy(flags, request));
  RETURN_IF_ERROR(set_weights(flags, request));
  RETURN_IF_ERROR(set_room(flags, request));
  if (request.ByteSizeLong() == 0) {
    return absl::InvalidArgumentError(
        "nothing to set\nuse --strategy, --weight, …, or show the settings with `hodei scheduler get`");
  }
  return request;
}

}  // namespace

void add_scheduler_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("scheduler", "Show and change how workers are chosen");
  group->require_subcommand(1);
  group->add_subcommand("get", "Show the current settings")->callback([&session] {
    session.action = [&session] { return session.show(text(session, {})); };
  });
  CLI::App* set =
      group->add_subcommand("set", "Change settings while the server runs; settings that are not given are kept");
  auto flags = std::make_shared<Flags>();
  set->add_option("--strategy", flags->strategy, "smart, round-robin, least-connections, resource-priority or affinity")
      ->type_name("STRATEGY");
  set->add_option("--packing", flags->packing, "spread jobs over many workers, or pack them onto few")
      ->type_name("spread|pack");
  repeatable(*set, "--weight", flags->weights, "weight of a part of the score: capacity, load, affinity, zone, history")
      ->type_name("PART=WEIGHT");
  set->add_option("--capacity", flags->capacity, "weight of free capacity")->type_name("WEIGHT");
  set->add_option("--load", flags->load, "weight of low load")->type_name("WEIGHT");
  set->add_option("--affinity", flags->affinity, "weight of the job's preferences")->type_name("WEIGHT");
  set->add_option("--zone", flags->zone, "weight of the preferred zone")->type_name("WEIGHT");
  set->add_option("--history", flags->history, "weight of past success")->type_name("WEIGHT");
  set->add_option("--threshold", flags->threshold, "minimum score of a worker")->type_name("SCORE");
  set->add_option("--preemption", flags->preemption,
                  "whether a job that fits nowhere may requeue jobs of lower priority")
      ->type_name("on|off");
  set->add_option("--reserve-after", flags->reserve_after,
                  "reserve a worker for a job that has waited this long: 30s, never")
      ->type_name("TIME");
  set->callback([&session, flags] {
    session.action = [&session, flags] {
      const absl::StatusOr<v1::ConfigureSchedulerRequest> request = make_request(*flags);
      return request.ok() ? session.show(text(session, *request)) : session.fail(request.status());
    };
  });
}

}  // namespace hodei::cli
