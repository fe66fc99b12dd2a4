#include "src/providers/process/worker_start.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/child_environment.h"
#include "src/base/core_dumps.h"
#include "src/base/status.h"

namespace hodei::providers {
namespace {

// The attributes and file actions of posix_spawn, freed at the end.
struct Manner {
  Manner(const std::string& folder, const std::string& log) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);  // also those that a library forgot to mark
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

absl::StatusOr<pid_t> start_worker(const std::string& program, const StringMap& environment, const std::string& folder,
                                   const std::string& log) {
  // Settings of workers in the environment of the server apply to these workers too.
  const ChildEnvironment env({"HODEI_CGROUPS", "HODEI_LOG_LEVEL", "HODEI_JOB_PROCESSES", "HODEI_JOB_LOG_SIZE",
                              "HODEI_LOG_BATCH_LINES", "HODEI_LOG_BATCH_INTERVAL"},
                             environment);
  std::string name = program;
  char* argv[] = {name.data(), nullptr};
  const Manner manner(folder, log);
  pid_t pid = 0;
  const CoreLimitRestored as_it_was;  // for its jobs
  const int failed = posix_spawn(&pid, program.c_str(), &manner.files, &manner.how, argv, env.get());
  if (failed == 0) return pid;
  const std::string why = cat("cannot start ", program, ": ", std::strerror(failed));
  if (failed == EAGAIN || failed == ENOMEM) return absl::ResourceExhaustedError(why);
  return absl::FailedPreconditionError(why);
}

}  // namespace hodei::providers
