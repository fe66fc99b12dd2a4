// Removes, and gives away, folders that strangers have filled. All work is done through descriptors: no symbolic link
// is followed and no mount point is crossed, so nothing outside of the folder is touched, whatever was put into it.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"

namespace hodei {

// A descriptor of the folder `name` in `parent` (one name, no path), which the caller closes; -1 with errno: it is not
// there, a link (ELOOP or ENOTDIR), a mount point (EXDEV), or not a folder.
int open_folder(int parent, const std::string& name);

// Removes `name` in `parent` with all that is below. A mount found on the way is detached, never emptied. OK when
// nothing is there. An error names the first thing that could not be removed; the rest is gone.
absl::Status remove_tree(int parent, const std::string& name);
// The same for a path. Only its last part is in a stranger's hands: the folders before it are followed as usual.
absl::Status remove_tree(const std::string& path);

// Makes `user` and `group` the owners of `name` in `parent` and of all that is below it; links themselves, not their
// targets.
absl::Status give_tree(int parent, const std::string& name, uid_t user, gid_t group);

}  // namespace hodei
