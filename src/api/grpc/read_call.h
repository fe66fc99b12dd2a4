// Calls that are answered from the store or from files: on threads of the reads' own, for a limited time, and only as
// long as somebody waits for the answer.
#pragma once

#include <functional>

#include "grpcpp/support/server_callback.h"
#include "src/server/server.h"

namespace hodei::api {

// What a list may take before it answers with what it has found so far. A page that is not full has a token to go on
// with.
inline constexpr Duration kReadTime = 500ms;

using ReadWork = std::function<absl::Status(const store::ReadLimit& limit)>;

// `work` may use the request and the response of its call: both live until it has returned.
grpc::ServerUnaryReactor* read(server::Server& server, server::ReadPool& pool, ReadWork work);
// From the store.
grpc::ServerUnaryReactor* read(server::Server& server, ReadWork work);

// For calls that the loop has answered, and that have something to read now: the loop's thread must not.
void read_then_finish(server::Server& server, grpc::ServerUnaryReactor* reactor, std::function<absl::Status()> work);

}  // namespace hodei::api
