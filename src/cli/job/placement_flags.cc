#include "src/cli/job/placement_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

// "zone In (a,b)", or with a weight before it: "80: zone In (a,b)".
absl::Status add_preferences(const std::vector<std::string>& texts, v1::JobSpec& spec) {
  for (const std::string& text : texts) {
    const size_t colon = text.find(':');
    const bool has_weight = colon != std::string::npos && colon > 0 && text.find_first_not_of("0123456789") == colon;
    const absl::StatusOr<v1::LabelRule> rule = parse_label_rule(has_weight ? text.substr(colon + 1) : text);
    if (!rule.ok()) return absl::InvalidArgumentError(cat("--prefer: ", std::string(rule.status().message())));
    v1::LabelPreference& preference = *spec.mutable_preferences()->add_labels();
    *preference.mutable_rule() = *rule;
    if (!has_weight) continue;
    const absl::StatusOr<int64_t> weight = parse_count(text.substr(0, colon), 1, 100);
    if (!weight.ok()) return bad_field("--prefer", "the weight: ", std::string(weight.status().message()));
    preference.set_weight(static_cast<int>(*weight));
  }
  return absl::OkStatus();
}

absl::Status add_affinity(const std::vector<std::string>& texts, std::string_view flag, bool anti, bool required,
                          v1::JobSpec& spec) {
  for (const std::string& text : texts) {
    absl::StatusOr<v1::LabelRule> rule = parse_label_rule(text);
    if (!rule.ok()) return absl::InvalidArgumentError(cat(flag, ": ", std::string(rule.status().message())));
    v1::JobAffinity& affinity = *spec.mutable_constraints()->add_affinity();
    *affinity.mutable_rule() = *std::move(rule);
    affinity.set_anti(anti);
    affinity.set_required(required);
  }
  return absl::OkStatus();
}

}  // namespace

void add_placement_flags(CLI::App& command, PlacementFlags& f) {
  command.add_option("--isolation", f.isolation, "minimum isolation: process, container or hardware")
      ->type_name("LEVEL");
  command.add_option("--prefer-provider", f.preferred_provider, "prefer workers from this provider")
      ->type_name("PROVIDER");
  repeatable(command, "--prefer", f.prefer,
             "prefer workers with these labels: 'disk=ssd', or with a weight from 1 to 100: '80: disk=ssd'")
      ->type_name("RULE");
  repeatable(command, "--near", f.near, "run only next to a job with these labels: 'app=db', 'app In (db,cache)'")
      ->type_name("RULE");
  repeatable(command, "--away", f.away, "run only where no job with these labels runs")->type_name("RULE");
  repeatable(command, "--prefer-near", f.prefer_near, "prefer to run next to a job with these labels")
      ->type_name("RULE");
  repeatable(command, "--prefer-away", f.prefer_away, "prefer to run where no job with these labels runs")
      ->type_name("RULE");
}

absl::Status set_placement_flags(const PlacementFlags& flags, v1::JobSpec& spec) {
  if (!flags.isolation.empty()) {
    v1::Constraints::Isolation isolation{};
    if (!v1::Constraints::Isolation_Parse(flags.isolation, &isolation) || isolation == 0) {
      return bad_field("--isolation", "'", flags.isolation, "' is not one of process, container, hardware",
                       did_you_mean(flags.isolation, {"process", "container", "hardware"}));
    }
    spec.mutable_constraints()->set_isolation(isolation);
  }
  if (!flags.preferred_provider.empty()) spec.mutable_preferences()->set_preferred_provider(flags.preferred_provider);
  RETURN_IF_ERROR(add_preferences(flags.prefer, spec));
  RETURN_IF_ERROR(add_affinity(flags.near, "--near", false, true, spec));
  RETURN_IF_ERROR(add_affinity(flags.away, "--away", true, true, spec));
  RETURN_IF_ERROR(add_affinity(flags.prefer_near, "--prefer-near", false, false, spec));
  return add_affinity(flags.prefer_away, "--prefer-away", true, false, spec);
}

}  // namespace hodei::cli
