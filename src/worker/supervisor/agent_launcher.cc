#include "src/worker/supervisor/agent_launcher.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "src/base/status.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/protocol/channel.h"
#include "src/worker/system/first_process.h"

extern char** environ;

namespace hodei::worker {
namespace {

constexpr int kChildSocket = 3;
constexpr const char* kOwnBinary = "/proc/self/exe";  // also when its file was replaced or removed

}  // namespace

ProcessLauncher::ProcessLauncher(std::vector<std::string> argv, std::string mark)
    : argv_(std::move(argv)), mark_(std::move(mark)) {
  installed_at_ = own_program();
}

std::string ProcessLauncher::path_of(AgentBinary binary) const {
  if (argv_[0].find('/') != std::string::npos) return argv_[0];
  const bool newest = binary == AgentBinary::Newest && access(installed_at_.c_str(), X_OK) == 0;
  // Without /proc the file must do.
  return newest || access(kOwnBinary, X_OK) != 0 ? installed_at_ : std::string(kOwnBinary);
}

absl::StatusOr<LaunchedAgent> ProcessLauncher::launch(AgentBinary binary) {
  ASSIGN_OR_RETURN(auto ends, Channel::make_pair());
  std::vector<std::string> env;
  for (char** pair = environ; *pair != nullptr; ++pair) {
    const std::string_view text = *pair;
    if (!text.starts_with(cat(kMarkVariable, "=")) && !text.starts_with("HODEI_TOKEN=")) env.emplace_back(text);
  }
  env.push_back(cat(kMarkVariable, "=", mark_));
  env.push_back(cat(kAttachVariable, "=", kChildSocket));
  std::vector<char*> argv_pointers, env_pointers;
  for (std::string& text : argv_) argv_pointers.push_back(text.data());
  for (std::string& text : env) env_pointers.push_back(text.data());
  argv_pointers.push_back(nullptr);
  env_pointers.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends.second.get(), kChildSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Its own process group: a Ctrl-C in the terminal is for the supervisor, which then tells the agent.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  const std::string path = path_of(binary);
  LaunchedAgent agent;
  const int failed =
      posix_spawn(&agent.pid, path.c_str(), &files, &attributes, argv_pointers.data(), env_pointers.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return absl::InternalError(cat("could not start the agent: ", strerror(failed)));
  agent.socket = std::move(ends.first);
  return agent;
}

}  // namespace hodei::worker
