// Secrets as files: on a tmpfs that one execution has to itself, mounted in its private folder, or in a folder of the
// worker's that is in memory. They never touch a disk.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/worker/core/program.h"

namespace hodei::worker {

// Names a folder in memory that the worker has to itself, for workers that may not mount one: in a pod it is a volume.
inline constexpr const char* kSecretsVariable = "HODEI_SECRETS_DIR";

// Where the secrets of the execution with this private folder are: below it, or in the folder that the variable names.
std::string secrets_folder(const std::string& private_folder);

bool can_keep_secret_files();

// Mounts a tmpfs at `folder`, unless that is in memory already, and writes the files, readable for `owner` alone. An
// error says what to do; then nothing is left.
absl::Status put_secret_files(const std::string& folder, const std::vector<Program::File>& files, uid_t owner);

// Unmounts it, even while it is in use. Does nothing if it is not mounted.
void drop_secret_files(const std::string& folder);

// All mounts below `root`: what a supervisor that was killed left behind.
void drop_all_secret_files(const std::string& root);

}  // namespace hodei::worker
