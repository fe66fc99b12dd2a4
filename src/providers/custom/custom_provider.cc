#include "src/providers/custom/custom_provider.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/providers/custom/protocol.h"
#include "src/providers/custom/worker_rolls.h"
#include "src/providers/option_reader.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kProtocol = 1;
constexpr Duration kCreateTimeout = 120s;
constexpr uint32_t kMaxWorkers = 16;
constexpr uint32_t kMostMaxWorkers = 10'000;
constexpr Duration kStartup = 30s;
constexpr size_t kMostTail = 100'000;

// The examples that come with Hodei, for the types that are named after a vendor.
constexpr std::pair<const char*, const char*> kExamples[] = {
    {"ec2", "ec2"}, {"azurevm", "azure-vm"}, {"cloudrun", "cloud-run"}, {"lambda", "lambda"}, {"custom", ""}};

struct Settings {
  std::string program;
  std::map<Verb, Duration> limits;
  Capabilities capabilities;
  Duration startup = kStartup;
  StringMap config;
  std::string folder;  // for files of the program's own
};

// A program that is named without a path is one of those that come with Hodei.
std::string resolve(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  const char* folders[] = {"providers", "../share/hodei/providers", "../../deploy/providers",
                           "../../../deploy/providers", "../../../../deploy/providers"};
  for (const char* folder : folders) {
    const fs::path candidate = (here / folder / program).lexically_normal();
    if (fs::is_regular_file(candidate, failed)) return candidate;
  }
  return program;
}

std::string last_lines(const std::string& text, size_t lines) {
  size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  for (size_t line = 0; line < lines; ++line) {
    const size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    if (before == std::string::npos) return text;
    at = before;
  }
  return lines == 0 ? std::string() : text.substr(at + 1);
}

bool is_refusal(absl::StatusCode code) {
  return code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kFailedPrecondition || code == absl::StatusCode::kResourceExhausted;
}

class CustomProvider final : public Provider {
 public:
  CustomProvider(ProviderConfig config, Installation installation, Settings settings)
      : config_(std::move(config)), installation_(std::move(installation)), settings_(std::move(settings)) {}

  Capabilities capabilities() const override { return settings_.capabilities; }
  Duration estimated_startup_time() const override { return settings_.startup; }
  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) override;
  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) override;
  absl::Status destroy_worker(const WorkerHandle& handle) override;
  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) override;
  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override;
  Health health_check() override;

 private:
  struct Answer {
    Question question;
    json object;
  };
  absl::StatusOr<Answer> ask(Verb verb, json more, const std::string& secret = {});
  json about(const WorkerHandle& handle);
  absl::Status check(const WorkerSpec& spec) const;
  absl::Status make_room(const std::string& worker_id);

  const ProviderConfig config_;
  const Installation installation_;
  const Settings settings_;
  WorkerRolls rolls_;
};

absl::StatusOr<CustomProvider::Answer> CustomProvider::ask(Verb verb, json more, const std::string& secret) {
  const std::string program = resolve(settings_.program);
  if (program.empty() || program[0] != '/') {
    return absl::FailedPreconditionError(cat("provider ", config_.name, ": program '", settings_.program,
                                             "' does not come with Hodei; set its absolute path (option program)"));
  }
  std::error_code failed;
  fs::create_directories(settings_.folder, failed);
  if (failed) return absl::InternalError(cat("cannot create ", settings_.folder, ": ", failed.message()));
  more["protocol"] = kProtocol;
  more["verb"] = name(verb);
  more["installation"] = installation_.id;
  more["provider"] = config_.name;
  more["type"] = config_.type;
  more["config"] = settings_.config;
  more["folder"] = settings_.folder;
  more["worker_binary"] = installation_.worker_binary;
  const ProgramRun run{.arguments = {program, std::string(name(verb))},
                       .input = more.dump(-1, ' ', false, json::error_handler_t::replace) + "\n",
                       .limit = settings_.limits.at(verb)};
  Answer answer{.question = {.program = program, .verb = verb, .limit = run.limit, .secret = secret}, .object = {}};
  ASSIGN_OR_RETURN(const ProgramOutcome outcome, run_program(run));
  ASSIGN_OR_RETURN(answer.object, read_answer(answer.question, outcome));
  return answer;
}

json CustomProvider::about(const WorkerHandle& handle) {
  const std::string id = handle.id.empty() ? rolls_.find(handle.worker_id).value_or("") : handle.id;
  return {{"worker_id", handle.worker_id}, {"id", id}};
}

absl::Status CustomProvider::check(const WorkerSpec& spec) const {
  RETURN_IF_ERROR(check_name("worker_id", spec.worker_id));
  if (!spec.image.empty() && !settings_.capabilities.images) {
    return bad_field("image", "provider ", config_.name,
                     " does not support images; leave the image out, or set the option images to true if ",
                     "its program handles them");
  }
  const std::vector<std::string>& known = settings_.capabilities.architectures;
  if (!spec.architecture.empty() && !known.empty() &&
      std::find(known.begin(), known.end(), spec.architecture) == known.end()) {
    return bad_field("architecture", "provider ", config_.name, " has no ", spec.architecture,
                     " (option architectures)");
  }
  return absl::OkStatus();
}

// The program is asked what it has when this is not known yet, and again before anybody is turned away: workers may
// have gone by themselves.
absl::Status CustomProvider::make_room(const std::string& worker_id) {
  if (!rolls_.was_listed()) RETURN_IF_ERROR(list_workers().status());
  const uint32_t room = settings_.capabilities.max_workers;
  if (rolls_.take_room(worker_id, room)) return absl::OkStatus();
  RETURN_IF_ERROR(list_workers().status());
  if (rolls_.take_room(worker_id, room)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      cat("provider ", config_.name, " has ", room, " workers, which is its limit (option max_workers)"));
}

absl::StatusOr<WorkerHandle> CustomProvider::create_worker(const WorkerSpec& spec) {
  RETURN_IF_ERROR(check(spec));
  const WorkerRolls::Turn turn(rolls_, spec.worker_id);
  RETURN_IF_ERROR(make_room(spec.worker_id));
  WorkerHandle handle{.worker_id = spec.worker_id, .id = rolls_.find(spec.worker_id).value_or("")};
  if (!handle.id.empty()) {
    ASSIGN_OR_RETURN(const WorkerStatus now, worker_status(handle));
    if (now.phase == WorkerPhase::Starting || now.phase == WorkerPhase::Running) return handle;
    if (now.phase == WorkerPhase::Ended) {
      return absl::UnavailableError(cat(spec.worker_id, " has ended (", now.reason, "); destroy it first"));
    }
  }
  const StringMap environment =
      worker_environment(config_, capabilities(), spec, cat("/var/tmp/hodei-", spec.worker_id));
  const absl::StatusOr<Answer> answer =
      ask(Verb::Create, {{"worker_id", spec.worker_id}, {"spec", spec_json(spec, environment)}}, spec.token);
  absl::StatusOr<std::string> id = answer.ok() ? read_id(answer->question, answer->object) : answer.status();
  if (!id.ok()) {
    // A program that was killed or talks nonsense may have made something: its room stays taken until it is destroyed
    // or the program says that it is not there.
    if (is_refusal(id.status().code())) rolls_.destroyed(spec.worker_id);
    return id.status();
  }
  rolls_.made(spec.worker_id, *id);
  handle.id = *id;
  return handle;
}

absl::StatusOr<WorkerStatus> CustomProvider::worker_status(const WorkerHandle& handle) {
  if (!check_name("worker_id", handle.worker_id).ok()) return WorkerStatus{};
  ASSIGN_OR_RETURN(const Answer answer, ask(Verb::Status, about(handle)));
  return read_status(answer.question, answer.object);
}

absl::Status CustomProvider::destroy_worker(const WorkerHandle& handle) {
  if (!check_name("worker_id", handle.worker_id).ok()) return absl::OkStatus();
  const WorkerRolls::Turn turn(rolls_, handle.worker_id);
  RETURN_IF_ERROR(ask(Verb::Destroy, about(handle)).status());
  rolls_.destroyed(handle.worker_id);
  return absl::OkStatus();
}

absl::StatusOr<std::string> CustomProvider::worker_logs(const WorkerHandle& handle, size_t tail) {
  RETURN_IF_ERROR(check_name("worker_id", handle.worker_id));
  json words = about(handle);
  words["tail"] = std::min(tail, kMostTail);
  ASSIGN_OR_RETURN(const Answer answer, ask(Verb::Logs, std::move(words)));
  ASSIGN_OR_RETURN(const std::string text, read_text(answer.question, answer.object));
  return last_lines(text, tail);
}

absl::StatusOr<std::vector<OwnedWorker>> CustomProvider::list_workers() {
  const uint64_t before = rolls_.before_list();
  ASSIGN_OR_RETURN(const Answer answer, ask(Verb::List, json::object()));
  ASSIGN_OR_RETURN(std::vector<OwnedWorker> workers, read_list(answer.question, answer.object));
  rolls_.listed(before, workers);
  return workers;
}

Health CustomProvider::health_check() {
  const absl::StatusOr<Answer> answer = ask(Verb::Health, json::object());
  if (!answer.ok()) return {HealthState::Unhealthy, std::string(answer.status().message())};
  const absl::StatusOr<Health> health = read_health(answer->question, answer->object);
  return health.ok() ? *health : Health{HealthState::Unhealthy, std::string(health.status().message())};
}

Isolation read_isolation(OptionReader& options) {
  const std::string word = options.text("isolation", "process");
  for (const Isolation each : {Isolation::Process, Isolation::Container, Isolation::Hardware}) {
    if (word == name(each)) return each;
  }
  options.refuse("isolation", cat("'", word, "' is not one of process, container, hardware"));
  return Isolation::Process;
}

std::string example_of(const std::string& type) {
  for (const auto& [known, program] : kExamples) {
    if (type == known) return program;
  }
  return {};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> make_custom_provider(const ProviderConfig& config,
                                                               const Installation& installation) {
  OptionReader options(config);
  Settings settings;
  settings.program = options.text("program", example_of(config.type));
  if (settings.program.empty()) {
    options.refuse(
        "program",
        "is required: the absolute path of a program that implements the protocol in docs/providers/custom.md");
  } else if (settings.program[0] != '/' && settings.program.find('/') != std::string::npos) {
    options.refuse("program", cat("'", settings.program,
                                  "' is neither an absolute path nor the name of a program that comes with Hodei"));
  }
  const Duration others = options.time("timeout", kCallTimeout, kImageTimeout);
  for (const Verb verb : kVerbs) {
    const Duration usual = verb == Verb::Create ? std::max(others, kCreateTimeout) : others;
    settings.limits[verb] = options.time(cat("timeout.", name(verb)), usual, kImageTimeout);
    if (settings.limits[verb] <= Duration(0)) options.refuse("timeout", "must be greater than 0");
  }
  Capabilities& can = settings.capabilities;
  can.max_workers = options.number("max_workers", kMaxWorkers, 1, kMostMaxWorkers);
  can.isolation = read_isolation(options);
  can.images = options.yes_or_no("images", false);
  can.gpu = options.yes_or_no("gpu", false);
  can.max_cpu_milli = int64_t{1000} * options.number("max_cpu", 0, 0, 100'000);
  can.max_memory_mb = options.number("max_memory_mb", 0, 0, UINT32_MAX);
  can.architectures = options.list("architectures");
  settings.startup = options.time("startup", kStartup, std::chrono::hours(1));
  if (settings.startup <= Duration(0)) options.refuse("startup", "must be greater than 0");
  settings.config = options.below("config.");
  RETURN_IF_ERROR(options.finish());
  std::error_code failed;
  settings.folder = fs::absolute(fs::path(installation.folder) / config.name, failed);
  return std::make_unique<CustomProvider>(config, installation, std::move(settings));
}

}  // namespace hodei::providers
