#include "src/cli/placement_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/label_rules.h"
#include "src/cli/repeatable.h"
#include "src/cli/suggestion.h"

namespace hodei::cli {
namespace {

absl::Status add_company(const std::vector<std::string>& texts, std::string_view flag, bool away, bool required,
                         v1::JobSpec& spec) {
  for (const std::string& text : texts) {
    absl::StatusOr<v1::LabelRule> rule = parse_label_rule(text);
    if (!rule.ok()) return absl::InvalidArgumentError(cat(flag, ": ", std::string(rule.status().message())));
    v1::Company& company = *spec.mutable_constraints()->add_company();
    *company.mutable_rule() = *std::move(rule);
    company.set_away(away);
    company.set_required(required);
  }
  return absl::OkStatus();
}

}  // namespace

void add_placement_flags(CLI::App& command, PlacementFlags& f) {
  command.add_option("--isolation", f.isolation, "at least this strong: process, container or hardware")
      ->type_name("LEVEL");
  command.add_option("--prefer-provider", f.preferred_provider, "prefer workers of this provider")
      ->type_name("PROVIDER");
  repeatable(command, "--near", f.near, "only where a job with such labels runs: 'app=db', 'app In (db,cache)'")
      ->type_name("RULE");
  repeatable(command, "--away", f.away, "only where no job with such labels runs")->type_name("RULE");
  repeatable(command, "--prefer-near", f.prefer_near, "rather where a job with such labels runs")->type_name("RULE");
  repeatable(command, "--prefer-away", f.prefer_away, "rather where no job with such labels runs")->type_name("RULE");
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
  RETURN_IF_ERROR(add_company(flags.near, "--near", false, true, spec));
  RETURN_IF_ERROR(add_company(flags.away, "--away", true, true, spec));
  RETURN_IF_ERROR(add_company(flags.prefer_near, "--prefer-near", false, false, spec));
  return add_company(flags.prefer_away, "--prefer-away", true, false, spec);
}

}  // namespace hodei::cli
