// The flags of `run` and `job submit` about secrets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"
#include "src/cli/terminal/surroundings.h"

namespace CLI {
class App;
}

namespace hodei::cli {

// As the server takes it at most.
inline constexpr size_t kLargestSecret = 64 << 10;

struct SecretFlags {
  std::vector<std::string> names;  // in the server's store
  std::vector<std::string> from;   // NAME=FILE
  bool files = false;
};

void add_secret_flags(CLI::App& command, SecretFlags& flags);
absl::Status set_secrets(const SecretFlags& flags, const Surroundings& io, v1::JobSpec& spec);

// Puts the secrets of `given`, which set_secrets filled, into a spec; they win over its own.
void merge_secrets(const v1::JobSpec& given, v1::JobSpec& spec);

// A value from standard input, without the line break that most programs put behind it.
absl::StatusOr<std::string> read_secret_from_stdin(const Surroundings& io);

}  // namespace hodei::cli
