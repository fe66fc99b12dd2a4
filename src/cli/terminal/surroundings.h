// Everything outside the process that a command uses: streams, environment, clock. Tests provide their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/cli/terminal/input_source.h"

namespace hodei::cli {

struct Surroundings {
  // Data goes to out, everything else to err. False: the reader has gone.
  std::function<bool(std::string_view)> out;
  std::function<bool(std::string_view)> err;
  std::function<std::optional<std::string>(const std::string&)> env;
  std::function<absl::StatusOr<std::string>()> read_stdin;
  // Standard input for a job; null: there is none, or it is not open for reading.
  std::function<std::shared_ptr<InputSource>()> open_input;
  // Asks on the terminal without showing what is typed; empty where there is none.
  std::function<absl::StatusOr<std::string>(std::string_view prompt)> read_hidden;
  // Asks on the terminal and gives one line; empty where there is none.
  std::function<absl::StatusOr<std::string>(std::string_view prompt)> ask;
  std::function<size_t()> columns;                      // of the terminal; 0: not known
  std::function<std::vector<std::string>()> env_names;  // of everything in the environment
  // Waits that long; false: stop what you are repeating.
  std::function<bool(Duration)> pause;
  const Clock* clock = nullptr;
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool handle_signals = false;  // Ctrl-C of `run` cancels the job

  std::string env_or(const std::string& name, std::string_view otherwise) const {
    return env(name).value_or(std::string(otherwise));
  }
};

Surroundings real_surroundings();

// A whole file, refused when it is larger than `limit`.
absl::StatusOr<std::string> read_small_file(const std::string& path, size_t limit);

// A random text of 128 bits in hex, for request ids and idempotency keys.
std::string random_id();

}  // namespace hodei::cli
