#include "src/worker/limits/sandbox.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/limits/seccomp_filter.h"

namespace hodei::worker {
namespace {

constexpr const char* kTemporary[] = {"/tmp", "/var/tmp", "/dev/shm"};
constexpr std::string_view kTemporaryOptions = "mode=1777,size=1g";  // counts as memory of the job
constexpr std::string_view kCoverOptions = "mode=0755,size=1m";      // hides what is not the job's business

// "/a/b/c" → "/a", "/a/b"
std::vector<std::string> parents_of(const std::string& path) {
  std::vector<std::string> parents;
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    parents.push_back(path.substr(0, at));
  }
  return parents;
}

bool is_below(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

bool others_may_pass(const std::string& folder) {
  struct stat info {};
  return stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IXOTH) != 0;
}

}  // namespace

absl::StatusOr<Sandbox> Sandbox::prepare(const SandboxRules& rules, const std::string& folder) {
  Sandbox sandbox;
  const uid_t self = geteuid();
  if (self == 0) {
    ASSIGN_OR_RETURN(sandbox.user_, find_user(rules.user.empty() ? "nobody" : rules.user));
    sandbox.change_user_ = true;
  } else {
    sandbox.user_ = {self, getegid()};
    if (!rules.user.empty()) {
      ASSIGN_OR_RETURN(const UserAccount wanted, find_user(rules.user));
      if (wanted.uid != self) {
        return absl::PermissionDeniedError(cat("sandbox.user: this worker runs as user ", self,
                                               " and cannot switch to '", rules.user,
                                               "'; leave it empty, or run the worker as root"));
      }
    }
    sandbox.user_map_ = cat(self, " ", self, " 1");
    sandbox.group_map_ = cat(sandbox.user_.gid, " ", sandbox.user_.gid, " 1");
    sandbox.namespaces_ |= CLONE_NEWUSER;
  }
  sandbox.namespaces_ |= CLONE_NEWNS | (rules.allow_network ? 0 : CLONE_NEWNET);
  sandbox.read_only_root_ = !rules.writable_root;
  sandbox.plan_mounts(rules, folder);
  if (!rules.allow_all_syscalls) {
    const auto& filter = default_filter();
    if (!filter.ok()) return filter.status();
    sandbox.filter_ = {.len = static_cast<unsigned short>(filter->size()),
                       .filter = const_cast<sock_filter*>(filter->data())};
  }
  return sandbox;
}

void Sandbox::plan_mounts(const SandboxRules& rules, const std::string& folder) {
  bool hidden = false;
  for (const char* path : kTemporary) {
    if (rules.shared_tmp) {
      if (read_only_root_ && access(path, F_OK) == 0) writable_.emplace_back(path);
      continue;
    }
    empty_.push_back({path, std::string(kTemporaryOptions), std::string_view(path) == "/tmp"});
    hidden = hidden || is_below(folder, path);
  }
  // The user of the sandbox must be able to reach its folder by its name: the first folder on the way that would keep
  // it out becomes an empty one. That also hides the worker's own files.
  const std::vector<std::string> parents = parents_of(folder);
  for (const std::string& parent : parents) {
    if (hidden || !change_user_ || others_may_pass(parent)) continue;
    empty_.push_back({parent, std::string(kCoverOptions), true});
    hidden = true;
  }
  if (hidden) made_ = parents;
  made_.push_back(folder);
  writable_.push_back(folder);
}

absl::Status Sandbox::give(int folder, const std::string& name) const {
  return change_user_ ? give_tree(folder, name, user_.uid, user_.gid) : absl::OkStatus();
}

bool can_sandbox() {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const bool made = unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 &&
                      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    _exit(made ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hodei::worker
