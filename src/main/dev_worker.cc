#include "src/main/dev_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/base/child_environment.h"
#include "src/base/core_dumps.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/main/process_signals.h"

extern char** environ;

namespace hodei {
namespace {

constexpr Duration kEndLimit = 10s;  // for jobs that were told to end
constexpr Duration kKillLimit = 5s;

// Arguments that give the worker the same settings as the command line gave us.
std::vector<std::string> arguments(const cli::AgentOptions& agent, const std::string& server,
                                   const std::string& state_dir) {
  std::vector<std::string> args = {"hodei",       "agent",   "--server",    server,
                                   "--state-dir", state_dir, "--worker-id", kDevWorkerId};
  const auto add = [&](const char* flag, const std::string& value) {
    args.emplace_back(flag);
    args.push_back(value);
  };
  if (!agent.name.empty()) add("--name", agent.name);
  if (agent.slots > 0) add("--slots", std::to_string(agent.slots));
  add("--job-processes", std::to_string(agent.job_processes));
  if (!agent.cgroups.empty()) add("--cgroups", agent.cgroups);
  add("--job-log-size", std::to_string(agent.job_log_bytes));
  add("--stop-grace", cat(agent.stop_grace.count() / 1000, "ms"));
  add("--leave-after", cat(agent.leave_after / 1ms, "ms"));
  if (!agent.pool.empty()) add("--pool", agent.pool);
  add("--metrics-listen", agent.metrics_listen);
  if (!agent.log_level.empty()) add("--log-level", agent.log_level);
  for (const auto& [key, value] : agent.labels) add("--label", cat(key, "=", value));
  for (const cli::WorkerTaint& t : agent.taints) add("--taint", cat(t.key, "=", t.value, ":", t.effect));
  return args;
}

// The token goes through the environment of the one process that needs it, never through its arguments. The key that
// seals secrets is the server's alone: jobs can read the environment of the worker that runs them.
std::vector<std::string> environment(const std::string& token) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::string_view name = pair.substr(0, pair.find('='));
    const bool is_for_workers = name.starts_with("HODEI_") && name != "HODEI_TOKEN" && name != "HODEI_SECRET_KEY" &&
                                name != "HODEI_DATABASE_URL";
    if (is_for_workers || !is_own_setting(name)) out.emplace_back(pair);
  }
  out.push_back("HODEI_TOKEN=" + token);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

DevWorker::DevWorker(const cli::DevOptions& options, std::string server, MakeToken make_token)
    : options_(options),
      server_(std::move(server)),
      state_dir_(options.server.data_dir + "/worker"),
      make_token_(std::move(make_token)) {}

bool DevWorker::running() const {
  const int fd = ::open((state_dir_ + "/lock").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  // Asks without taking it: a supervisor that starts in this moment must find it free.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  const bool held = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  ::close(fd);
  return held;
}

bool DevWorker::serves_us() const {
  std::ifstream in(state_dir_ + "/dev-server");
  std::string known;
  std::getline(in, known);
  return known == server_;
}

int64_t DevWorker::read_pid(const char* name) const {
  std::ifstream in(state_dir_ + "/" + name);
  int64_t pid = 0;
  in >> pid;
  return in && kill(static_cast<pid_t>(pid), 0) == 0 ? pid : 0;
}

int64_t DevWorker::supervisor_pid() const { return running() ? read_pid("supervisor.pid") : 0; }
int64_t DevWorker::agent_pid() const { return running() ? read_pid("agent.pid") : 0; }

void DevWorker::reap() {
  int status = 0;
  if (child_ != 0 && waitpid(static_cast<pid_t>(child_), &status, WNOHANG) == child_) child_ = 0;
}

absl::Status DevWorker::keep(const std::function<bool()>& may_return) {
  reap();
  if (running()) {
    was_there_ = was_there_ || serves_us();
    if (serves_us()) return absl::OkStatus();
    end_now();  // left by a server on another address
  }
  if (child_ != 0) return absl::OkStatus();  // on its way up
  if (was_there_ && !may_return()) return absl::OkStatus();
  was_there_ = true;
  return spawn();
}

absl::Status DevWorker::spawn() {
  std::error_code error;
  std::filesystem::create_directories(state_dir_, error);
  if (error) return absl::InternalError(cat("cannot create ", state_dir_, ": ", error.message()));
  ASSIGN_OR_RETURN(const std::string token, make_token_());
  std::ofstream(state_dir_ + "/dev-server") << server_ << "\n";
  std::vector<std::string> args = arguments(options_.agent, server_, state_dir_);
  std::vector<std::string> env = environment(token);
  const std::string log = options_.server.data_dir + "/worker.log";

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files,
                                           3);  // it outlives us: with our sockets it would keep our ports in use
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  // A session of its own: Ctrl-C in the terminal is for us, and we pass it on in good order.
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&how, &all);
  pid_t pid = 0;
  const CoreLimitRestored as_it_was;  // for its jobs
  const int failed = posix_spawn(&pid, "/proc/self/exe", &files, &how, pointers(args).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (failed != 0) return absl::InternalError(cat("cannot start the worker: ", std::strerror(failed)));
  child_ = pid;
  return absl::OkStatus();
}

void DevWorker::tell_to_stop() {
  const int64_t pid = running() ? read_pid("supervisor.pid") : child_;
  if (pid != 0) kill(static_cast<pid_t>(pid), SIGTERM);
}

bool DevWorker::is_gone() {
  reap();
  return child_ == 0 && !running();
}

bool DevWorker::wait_until_gone(Duration limit) {
  const SystemClock clock;
  const MonoTime until = clock.now().mono + limit;
  while (clock.now().mono < until) {
    if (is_gone()) return true;
    // Its end may be of a process that is not our child: there is nothing to wait on but the lock.
    pause_for(20ms);
  }
  return is_gone();
}

void DevWorker::end_now() {
  // Signals that come together are one: it has to see the second by itself, and the third only if it must.
  for (const Duration limit : {Duration(200ms), Duration(kEndLimit), Duration(kKillLimit)}) {
    tell_to_stop();
    if (wait_until_gone(limit)) return;
  }
  const int64_t pid = running() ? read_pid("supervisor.pid") : child_;
  if (pid != 0) kill(static_cast<pid_t>(pid), SIGKILL);
  wait_until_gone(kKillLimit);
}

}  // namespace hodei
