// Label expressions, key=value pairs, taints and addresses of the command line.
#include "hodei/v1/job.pb.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/text/address.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/utf8.h"
#include "src/spec/job_spec.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

// What the command line takes the server takes, too: nobody gets an error about a rule that was called good before.
static void label_rule(std::string_view text) {
  const absl::StatusOr<v1::LabelRule> rule = cli::parse_label_rule(text);
  if (!rule.ok()) {
    REQUIRE(fuzz::names_a_field(rule.status()), fuzz::words(rule.status()));
    return;
  }
  v1::JobSpec spec;
  spec.mutable_command()->mutable_shell()->set_cmd("true");
  *spec.mutable_constraints()->add_labels() = *rule;
  const absl::Status taken = core::validate(spec::from_proto(spec));
  REQUIRE(taken.ok(), fuzz::words(taken));
}

static void address(std::string_view text) {
  if (const absl::StatusOr<cli::Address> one = cli::parse_address(text); one.ok()) {
    const absl::StatusOr<cli::Address> again = cli::parse_address(to_string(*one));
    REQUIRE(again.ok() && *again == *one, to_string(*one));
  }
  if (const auto many = cli::parse_addresses(text); many.ok()) REQUIRE(!many->empty(), text);
}

FUZZ_TARGET(input) {
  label_rule(input);
  address(input);
  if (const auto pair = cli::parse_key_value("label", input); pair.ok()) {
    REQUIRE(cat(pair->key, "=", pair->value) == input && !pair->key.empty(), input);
  } else {
    REQUIRE(fuzz::names_a_field(pair.status()), fuzz::words(pair.status()));
  }
  if (const auto taint = cli::parse_taint(input); taint.ok()) {
    REQUIRE(!taint->key.empty() && !taint->effect.empty(), input);
  }
  for (const std::string& part : cli::split_list(input)) REQUIRE(!part.empty() && part == cli::trimmed(part), part);
}
