// How the supervisor gets an agent. A port: tests play the agent themselves.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/fd.h"

namespace hodei::worker {

struct LaunchedAgent {
  pid_t pid = 0;     // 0: not a child of ours
  Fd socket;         // our end
};

class AgentLauncher {
 public:
  virtual ~AgentLauncher() = default;
  virtual absl::StatusOr<LaunchedAgent> launch() = 0;
};

inline constexpr const char* kAttachVariable = "HODEI_ATTACH_FD";

// Runs this binary again with other arguments (or argv[0], if that is a path). The child finds the number of its end
// of the socket in HODEI_ATTACH_FD, and `mark` in its environment, so that a successor finds it too.
class ProcessLauncher final : public AgentLauncher {
 public:
  ProcessLauncher(std::vector<std::string> argv, std::string mark) : argv_(std::move(argv)), mark_(std::move(mark)) {}
  absl::StatusOr<LaunchedAgent> launch() override;

 private:
  std::string program() const;

  std::vector<std::string> argv_;
  std::string mark_;
};

}  // namespace hodei::worker
