// Firecracker: one process for each machine, configured over its socket.
#pragma once

#include <utility>

#include "src/providers/firecracker/engine.h"
#include "src/providers/firecracker/jail.h"

namespace hodei::providers::firecracker {

struct FirecrackerOptions {
  std::string program;  // path
  JailOptions jail;
};

// One call of its API.
struct ApiCall {
  std::string path;
  std::string body;  // JSON
};

// All calls that make the machine and start it, in the order that Firecracker documents.
std::vector<ApiCall> firecracker_calls(const Machine& machine);

std::unique_ptr<Engine> make_firecracker_engine(FirecrackerOptions options);

}  // namespace hodei::providers::firecracker
