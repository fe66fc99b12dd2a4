// Starts agents for the supervisor. A port: in tests, the test itself is the agent.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

struct LaunchedAgent {
  pid_t pid = 0;  // 0: not a child of ours
  Fd socket;      // our end
};

// Newest: the binary that is now at the path from which we were started. It may be a newer version.
enum class AgentBinary : uint8_t { Newest, Own };

class AgentLauncher {
 public:
  virtual ~AgentLauncher() = default;
  virtual absl::StatusOr<LaunchedAgent> launch(AgentBinary binary) = 0;
};

inline constexpr const char* kAttachVariable = "HODEI_ATTACH_FD";

// Runs this binary again with other arguments (or argv[0], if that is a path). The child finds the number of its end
// of the socket in HODEI_ATTACH_FD, and `mark` in its environment, so that a successor finds it too.
class ProcessLauncher final : public AgentLauncher {
 public:
  ProcessLauncher(std::vector<std::string> argv, std::string mark);
  absl::StatusOr<LaunchedAgent> launch(AgentBinary binary) override;

 private:
  std::string path_of(AgentBinary binary) const;

  std::vector<std::string> argv_;
  std::string mark_;
  std::string installed_at_;  // where our binary lay at the start; empty: not known
};

}  // namespace hodei::worker
