// JobInputService: standard input of jobs, from clients and to workers.
#pragma once

#include "hodei/v1/input_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

using SendInputReactor = grpc::ServerBidiReactor<v1::SendInputRequest, v1::SendInputResponse>;
using TakeInputReactor = grpc::ServerBidiReactor<v1::TakeInputRequest, v1::TakeInputResponse>;

// Limits of the calls, named in docs/limits.md.
inline constexpr size_t kMaxInputPiece = 256 << 10;  // bytes in one message
inline constexpr int64_t kInputWindow = 256 << 10;   // bytes on their way to a worker that it has not acknowledged

SendInputReactor* start_input_sender(server::Server& server, const grpc::CallbackServerContext& context);
TakeInputReactor* start_input_taker(server::Server& server, const grpc::CallbackServerContext& context);

class InputService final : public v1::JobInputService::CallbackService {
 public:
  explicit InputService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  SendInputReactor* Send(Context* c) override { return start_input_sender(server_, *c); }
  TakeInputReactor* Take(Context* c) override { return start_input_taker(server_, *c); }

 private:
  server::Server& server_;
};

}  // namespace hodei::api
