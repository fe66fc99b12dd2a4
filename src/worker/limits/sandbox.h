// A sandbox for one process: prepared before the process exists, entered by the process itself.
//
// It is a mount namespace in which the root is read-only and /tmp empty, a network namespace with nothing but loopback,
// another user without capabilities, no way to gain privileges, and a filter of system calls. Each part can be left out
// by the job, except the mount namespace and the lack of privileges. A worker that is not root uses a user namespace.
#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/core/program.h"
#include "src/worker/system/user_account.h"

namespace hodei::worker {

class Sandbox {
 public:
  // `folder` is the execution's private folder: it stays writable, at its own path.
  static absl::StatusOr<Sandbox> prepare(const SandboxRules& rules, const std::string& folder);

  // Gives what has this name in an open folder, with all that is below it, to the user of the sandbox.
  absl::Status give(int folder, const std::string& name) const;

  uid_t uid() const { return user_.uid; }

  // The two below run in the child. System calls only; false: `step` says which failed, and errno why.
  bool enter(const char** step) const;  // namespaces and mounts
  bool seal(const char** step) const;   // user, privileges, filter: the last before the program

 private:
  struct Mount {
    std::string path;
    std::string options;
    bool must_be = false;
  };
  Sandbox() = default;
  void plan_mounts(const SandboxRules& rules, const std::string& folder);
  bool map_user(const char** step) const;
  bool arrange_mounts(const char** step) const;
  bool raise_loopback() const;

  UserAccount user_;
  bool change_user_ = false;
  int namespaces_ = 0;
  bool read_only_root_ = true;
  std::string user_map_, group_map_;   // of the user namespace, if there is one
  std::vector<Mount> empty_;           // become an empty tmpfs
  std::vector<std::string> writable_;  // stay what they are; the last is the private folder
  std::vector<std::string> made_;      // folders to be made again below the empty ones
  sock_fprog filter_{};
};

// Whether this process may make the namespaces and mounts of a sandbox here at all. Tries it in a child.
bool can_sandbox();

}  // namespace hodei::worker
