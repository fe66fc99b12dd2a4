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

// For what is found at once, by its name: it does not wait for what takes long.
inline constexpr server::ReadPool::Lane kQuick = server::ReadPool::Lane::Quick;
inline constexpr server::ReadPool::Lane kLong = server::ReadPool::Lane::Long;

// `work` may use the request and the response of its call: both live until it has returned.
grpc::ServerUnaryReactor* read(server::Server& server, server::ReadPool& pool, const grpc::CallbackServerContext& c,
                               server::ReadPool::Lane lane, ReadWork work);
// From the store.
grpc::ServerUnaryReactor* read(server::Server& server, const grpc::CallbackServerContext& c,
                               server::ReadPool::Lane lane, ReadWork work);

// The same, with something left to ask before the answer leaves: `after` finishes the call when `work` went well.
using AfterRead = std::function<void(grpc::ServerUnaryReactor* call)>;
grpc::ServerUnaryReactor* read(server::Server& server, const grpc::CallbackServerContext& c,
                               server::ReadPool::Lane lane, ReadWork work, AfterRead after);

// For calls that the loop has answered, and that have something to look up now: the loop's thread must not.
void read_then_finish(server::Server& server, grpc::ServerUnaryReactor* reactor, std::function<absl::Status()> work);

}  // namespace hodei::api
