#include "src/worker/agent_launcher.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cstring>

#include "src/base/status.h"
#include "src/worker/channel.h"
#include "src/worker/enclosure.h"
#include "src/worker/first_process.h"

extern char** environ;

namespace hodei::worker {
namespace {

constexpr int kChildSocket = 3;

constexpr const char* kThisProgram = "/proc/self/exe";

}  // namespace

std::string ProcessLauncher::program() const {
  if (argv_[0].find('/') != std::string::npos) return argv_[0];
  // The link leads to this very binary, also when its file was replaced; without /proc the file must do.
  return access(kThisProgram, X_OK) == 0 ? kThisProgram : own_program();
}

absl::StatusOr<LaunchedAgent> ProcessLauncher::launch() {
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

  LaunchedAgent agent;
  const int failed = posix_spawn(&agent.pid, program().c_str(), &files, &attributes, argv_pointers.data(),
                                 env_pointers.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return absl::InternalError(cat("could not start the agent: ", strerror(failed)));
  agent.socket = std::move(ends.first);
  return agent;
}

}  // namespace hodei::worker
