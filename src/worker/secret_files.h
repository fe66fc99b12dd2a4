// Secrets as files: on a tmpfs that one execution has to itself, mounted in its private folder. They never touch a
// disk.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/worker/program.h"

namespace hodei::worker {

inline std::string secrets_folder(const std::string& private_folder) { return private_folder + "/secrets"; }

// Mounts a tmpfs at `folder` and writes the files, readable for `owner` alone. An error says what to do; then nothing
// is left.
absl::Status put_secret_files(const std::string& folder, const std::vector<Program::File>& files, uid_t owner);

// Takes the mount away, also from under somebody who still looks; nothing happens where none is.
void drop_secret_files(const std::string& folder);

// All mounts below `root`: what a supervisor that was killed left behind.
void drop_all_secret_files(const std::string& root);

}  // namespace hodei::worker
