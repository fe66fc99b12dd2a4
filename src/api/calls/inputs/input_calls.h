// JobInputService: standard input of jobs, from clients and to workers. Both calls stream in both directions, so each
// transport that has them binds them by hand; the lines of the table are here.
#pragma once

#include <string_view>

#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/server/input/job_inputs.h"

namespace hodei::api {

// Limits of the calls, named in docs/limits.md.
inline constexpr size_t kMaxInputPiece = 256 << 10;  // bytes in one message
inline constexpr int64_t kInputWindow = 256 << 10;   // bytes on their way to a worker that it has not acknowledged

struct InputPorts {
  server::JobInputs& inputs;
  Stored stored;
  server::ReadPool& files;
  Sessions sessions;
  server::OpenCalls& open_calls;
  CheckRoom check_room;
};

struct InputCalls {
  static constexpr std::string_view service = "hodei.v1.JobInputService";
  using Ports = InputPorts;
  static Ports ports(const ServerPorts& s) {
    return {s.inputs, s.stored, s.files.pool, s.sessions, s.open_calls, s.check_room};
  }
  template <class Visitor>
  static void lines(Visitor& v) {
    v.by_hand({"Send", Who::Operator, By::Files});
    v.by_hand({"Take", Who::Worker, By::Files});
  }
};

}  // namespace hodei::api
