// Answering unary calls: at once, or when the loop's batch is durable.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "src/api/grpc/translate.h"
#include "src/server/server.h"

namespace hodei::api {

inline grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(to_grpc(status));
  return reactor;
}

// Posts a command; `fill` turns the reply of type R into the response when it comes.
template <class R, class Fill>
grpc::ServerUnaryReactor* decide(server::Server& server, grpc::CallbackServerContext* context, core::Command command,
                                 Fill fill) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  server.loop().post_bounded(std::move(command), [reactor, fill = std::move(fill)](absl::StatusOr<core::Reply> reply) {
    if (reply.ok()) fill(std::get<R>(*reply));
    reactor->Finish(to_grpc(reply.status()));
  });
  return reactor;
}

}  // namespace hodei::api
