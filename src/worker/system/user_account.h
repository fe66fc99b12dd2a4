// Users of this machine. Read from /etc/passwd here: the C library would load plug-ins for it, which a static binary
// and an empty root do not have.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace hodei::worker {

struct UserAccount {
  uid_t uid = 0;
  gid_t gid = 0;
};

// By name or number. A number that no line names has the group of the same number. `nobody` is always known.
absl::StatusOr<UserAccount> find_user(const std::string& name_or_number, const std::string& file = "/etc/passwd");

}  // namespace hodei::worker
