// The JSON messages between the server and a provider's program, described in docs/providers/custom.md.
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "src/providers/custom/program_run.h"
#include "src/providers/provider.h"

namespace hodei::providers {

enum class Verb : uint8_t { Create, Status, Destroy, Logs, Health, List };
inline constexpr Verb kVerbs[] = {Verb::Create, Verb::Status, Verb::Destroy, Verb::Logs, Verb::Health, Verb::List};
std::string_view name(Verb verb);

// What an answer is about, for error messages.
struct Question {
  std::string program;
  Verb verb = Verb::Health;
  Duration limit = 0s;
  std::string secret;  // must not be in any error; empty: none
};

// The object that it answered. An answer that is none, and one that is an error, become a status in words that name
// the program, the verb and what it printed.
absl::StatusOr<nlohmann::json> read_answer(const Question& question, const ProgramOutcome& outcome);

nlohmann::json spec_json(const WorkerSpec& spec, const StringMap& environment);

absl::StatusOr<std::string> read_id(const Question& question, const nlohmann::json& answer);
absl::StatusOr<WorkerStatus> read_status(const Question& question, const nlohmann::json& answer);
absl::StatusOr<Health> read_health(const Question& question, const nlohmann::json& answer);
absl::StatusOr<std::string> read_text(const Question& question, const nlohmann::json& answer);
absl::StatusOr<std::vector<OwnedWorker>> read_list(const Question& question, const nlohmann::json& answer);

}  // namespace hodei::providers
