// Calls that only a registered worker may make: its session id is in the metadata, as `hodei-session`.
#pragma once

#include <functional>
#include <optional>

#include "src/api/grpc/unary.h"
#include "src/base/hash.h"

namespace hodei::api {

// The hash of the session that a call names; nothing: it names none.
std::optional<Hash128> session_in(const grpc::CallbackServerContext& context);

absl::Status needs_session();

// Whose session it is, or UNAUTHENTICATED, which is counted. `found` is called on the loop's thread and must not block.
void find_worker(server::Server& server, const Hash128& session, std::function<void(absl::StatusOr<WorkerId>)> found);

// Finds the worker of the session, then posts the command that `make` builds for it, unless it refuses.
grpc::ServerUnaryReactor* decide_for_worker(server::Server& server, grpc::CallbackServerContext* context,
                                            std::function<absl::StatusOr<core::Command>(const WorkerId&)> make,
                                            std::function<void(const core::Reply&)> fill);

}  // namespace hodei::api
