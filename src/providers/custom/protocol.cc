#include "src/providers/custom/protocol.h"

#include <optional>

#include "src/base/status.h"
#include "src/providers/foreign_text.h"

namespace hodei::providers {
namespace {

using nlohmann::json;

constexpr int kDeepest = 8;  // what is nested deeper is dropped: no answer needs it
constexpr size_t kLongestId = 256;
constexpr size_t kShown = 300;  // characters of what a program printed, in an error

std::string without(std::string text, const std::string& secret) {
  for (size_t at = 0; !secret.empty() && (at = text.find(secret, at)) != std::string::npos;)
    text.replace(at, secret.size(), "***");
  return text;
}

std::string shown(const std::string& text) { return first_part(text, kShown); }

template <class... Parts>
std::string about(const Question& question, const Parts&... parts) {
  return without(cat(question.program, " ", name(question.verb), ": ", parts...), question.secret);
}

std::string complaint(const ProgramOutcome& outcome) {
  return outcome.complaint.empty() ? "; it printed nothing on standard error"
                                   : cat("; its standard error: ", last_part(outcome.complaint, kShown));
}

std::optional<std::string> text_at(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

absl::Status wrong_field(const Question& question, const json& answer, const char* field, const std::string& expected) {
  return absl::UnavailableError(about(question, "answered without a valid '", field, "' (expected ", expected,
                                      "): ", shown(answer.dump(-1, ' ', false, json::error_handler_t::replace))));
}

absl::StatusCode code_of(const std::string& word) {
  if (word == "resource_exhausted") return absl::StatusCode::kResourceExhausted;
  if (word == "invalid_argument") return absl::StatusCode::kInvalidArgument;
  if (word == "not_found") return absl::StatusCode::kNotFound;
  if (word == "failed_precondition") return absl::StatusCode::kFailedPrecondition;
  if (word == "permission_denied") return absl::StatusCode::kPermissionDenied;
  return absl::StatusCode::kUnavailable;
}

absl::Status read_error(const Question& question, const json& error) {
  if (error.is_string()) return absl::UnavailableError(about(question, shown(error.get<std::string>())));
  if (!error.is_object())
    return absl::UnavailableError(about(question, "answered with an error that is neither a string nor an object"));
  const std::string code = text_at(error, "code").value_or("");
  const std::string message = text_at(error, "message").value_or("");
  return absl::Status(code_of(code), about(question, message.empty() ? cat("error ", code) : shown(message)));
}

}  // namespace

std::string_view name(Verb verb) {
  switch (verb) {
    case Verb::Create: return "create";
    case Verb::Status: return "status";
    case Verb::Destroy: return "destroy";
    case Verb::Logs: return "logs";
    case Verb::Health: return "health";
    case Verb::List: return "list";
  }
  return "?";
}

absl::StatusOr<json> read_answer(const Question& question, const ProgramOutcome& outcome) {
  using End = ProgramOutcome::End;
  if (outcome.end == End::TimedOut) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(question.limit).count();
    return absl::DeadlineExceededError(
        about(question, "did not end within ", ms, " ms and was killed (option timeout)", complaint(outcome)));
  }
  if (outcome.end == End::TooMuch) {
    return absl::UnavailableError(about(question, "printed more than ", kMostOutput,
                                        " bytes and was killed; the output starts with: ", shown(outcome.output)));
  }
  const auto shallow = [](int depth, json::parse_event_t, json&) { return depth <= kDeepest; };
  const json answer = json::parse(outcome.output, shallow, false);
  // An error message says more than an exit code.
  if (answer.is_object() && answer.contains("error")) return read_error(question, answer["error"]);
  if (outcome.end == End::Killed)
    return absl::UnavailableError(about(question, "was killed by signal ", outcome.code, complaint(outcome)));
  if (outcome.code != 0)
    return absl::UnavailableError(about(question, "ended with exit code ", outcome.code, complaint(outcome)));
  if (outcome.output.find_first_not_of(" \t\r\n") == std::string::npos) {
    return absl::UnavailableError(about(question, "printed nothing, expected a JSON object", complaint(outcome)));
  }
  if (!answer.is_object()) {
    return absl::UnavailableError(
        about(question, "printed something other than a JSON object: ", shown(outcome.output), complaint(outcome)));
  }
  return answer;
}

json spec_json(const WorkerSpec& spec, const StringMap& environment) {
  return {{"pool", spec.pool},
          {"image", spec.image},
          {"server_address", spec.server_address},
          {"cpu_milli", spec.cpu_milli},
          {"memory_mb", spec.memory_mb},
          {"storage_mb", spec.storage_mb},
          {"gpus", spec.gpus},
          {"architecture", spec.architecture},
          {"slots", spec.slots},
          {"labels", spec.labels},
          {"environment", environment}};
}

absl::StatusOr<std::string> read_id(const Question& question, const json& answer) {
  const std::optional<std::string> id = text_at(answer, "id");
  if (!id || id->empty() || id->size() > kLongestId) {
    return wrong_field(question, answer, "id", cat("a string of 1 to ", kLongestId, " characters"));
  }
  if (!question.secret.empty() && id->find(question.secret) != std::string::npos) {
    return absl::UnavailableError(about(question, "answered with an id that contains the token"));
  }
  return *id;
}

absl::StatusOr<WorkerStatus> read_status(const Question& question, const json& answer) {
  const std::optional<std::string> phase = text_at(answer, "phase"), reason = text_at(answer, "reason");
  WorkerStatus status;
  if (phase == "starting") {
    status.phase = WorkerPhase::Starting;
  } else if (phase == "running") {
    status.phase = WorkerPhase::Running;
  } else if (phase == "ended") {
    status.phase = WorkerPhase::Ended;
  } else if (phase == "gone") {
    status.phase = WorkerPhase::Gone;
  } else {
    return wrong_field(question, answer, "phase", "starting, running, ended or gone");
  }
  if (!reason) return wrong_field(question, answer, "reason", "a string");
  status.reason = shown(*reason);
  const auto hopeless = answer.find("hopeless");
  if (hopeless != answer.end() && !hopeless->is_boolean())
    return wrong_field(question, answer, "hopeless", "true or false");
  status.hopeless = hopeless != answer.end() && hopeless->get<bool>();
  return status;
}

absl::StatusOr<Health> read_health(const Question& question, const json& answer) {
  const std::optional<std::string> state = text_at(answer, "state");
  Health health{.state = HealthState::Unknown, .reason = shown(text_at(answer, "reason").value_or(""))};
  if (state == "healthy") health.state = HealthState::Healthy;
  if (state == "degraded") health.state = HealthState::Degraded;
  if (state == "unhealthy") health.state = HealthState::Unhealthy;
  if (health.state == HealthState::Unknown)
    return wrong_field(question, answer, "state", "healthy, degraded or unhealthy");
  return health;
}

absl::StatusOr<std::string> read_text(const Question& question, const json& answer) {
  const std::optional<std::string> text = text_at(answer, "text");
  if (!text) return wrong_field(question, answer, "text", "a string");
  return *text;  // JSON is UTF-8
}

absl::StatusOr<std::vector<OwnedWorker>> read_list(const Question& question, const json& answer) {
  const auto workers = answer.find("workers");
  if (workers == answer.end() || !workers->is_array()) return wrong_field(question, answer, "workers", "a list");
  std::vector<OwnedWorker> out;
  for (const json& one : *workers) {
    if (!one.is_object()) return wrong_field(question, answer, "workers", "a list of objects");
    const std::optional<std::string> worker_id = text_at(one, "worker_id"), id = text_at(one, "id");
    if (!worker_id || worker_id->empty()) return wrong_field(question, one, "worker_id", "a non-empty string");
    if (!id || id->size() > kLongestId)
      return wrong_field(question, one, "id", cat("a string of at most ", kLongestId, " characters"));
    ASSIGN_OR_RETURN(WorkerStatus status, read_status(question, one));
    if (status.phase != WorkerPhase::Gone)
      out.push_back({.handle = {.worker_id = *worker_id, .id = *id}, .status = std::move(status)});
  }
  return out;
}

}  // namespace hodei::providers
