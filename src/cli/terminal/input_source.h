// Reads our standard input for `hodei run`, which sends it to the job.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace hodei::cli {

class InputSource {
 public:
  virtual ~InputSource() = default;
  // Waits for bytes; none: it is at its end. CANCELLED: stop() was called.
  virtual absl::StatusOr<std::string> read(size_t most) = 0;
  virtual void stop() = 0;  // from any thread
};

// Null where there is nothing to read: it is closed, or /dev/null.
std::shared_ptr<InputSource> open_standard_input();

}  // namespace hodei::cli
