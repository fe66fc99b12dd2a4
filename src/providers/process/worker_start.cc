#include "src/providers/process/worker_start.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/status.h"

extern char** environ;

namespace hodei::providers {
namespace {

// Settings of workers that whoever started the server meant for these too.
constexpr std::string_view kPassedOn[] = {"HODEI_CGROUPS", "HODEI_LOG_LEVEL", "HODEI_JOB_PROCESSES",
                                          "HODEI_JOB_LOG_SIZE"};
// Besides all other HODEI_…: passwords and addresses of the server.
constexpr std::string_view kKept[] = {"DATABASE_URL", "GRPC_PORT", "HTTP_PORT", "OTEL_EXPORTER_OTLP_ENDPOINT",
                                      "OTEL_EXPORTER_OTLP_HEADERS", "TRACEPARENT"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> environment(const Words& words) {
  Words all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = pair.substr(0, equals);
    const bool ours = (name.starts_with("HODEI_") && !is_one_of(name, kPassedOn)) || is_one_of(name, kKept);
    if (!ours) all[std::string(name)] = pair.substr(equals + 1);
  }
  for (const auto& [name, value] : words) all[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : all) out.push_back(cat(name, "=", value));
  return out;
}

// What posix_spawn is told, cleaned up at the end.
struct Manner {
  Manner(const std::string& folder, const std::string& log) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);   // also those that a library forgot to mark
    posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how, &signals);
  }
  ~Manner() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
  }
  Manner(const Manner&) = delete;
  Manner& operator=(const Manner&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
};

}  // namespace

absl::StatusOr<pid_t> start_worker(const std::string& program, const Words& words, const std::string& folder,
                                   const std::string& log) {
  std::vector<std::string> texts = environment(words);
  std::vector<char*> env;
  for (std::string& text : texts) env.push_back(text.data());
  env.push_back(nullptr);
  std::string name = program;
  char* argv[] = {name.data(), nullptr};
  const Manner manner(folder, log);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), &manner.files, &manner.how, argv, env.data());
  if (failed == 0) return pid;
  const std::string why = cat("cannot start ", program, ": ", std::strerror(failed));
  if (failed == EAGAIN || failed == ENOMEM) return absl::ResourceExhaustedError(why);
  return absl::FailedPreconditionError(why);
}

}  // namespace hodei::providers
