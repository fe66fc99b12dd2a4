// Calls that only a registered worker may make: the call names its session.
#pragma once

#include <functional>

#include "src/api/calls/call.h"
#include "src/api/calls/ports.h"

namespace hodei::api {

absl::Status needs_session();

// Whose session it is that the call names, or UNAUTHENTICATED, which is counted.
void find_worker(const Sessions& sessions, const Call& call, std::function<void(absl::StatusOr<WorkerId>)> found);

// Finds the worker of the session, then posts the command that `make` builds for it, unless it refuses. `done` gets the
// reply, or why there is none.
void decide_for_worker(const Sessions& sessions, const Call& call,
                       std::function<absl::StatusOr<core::Command>(const WorkerId&)> make, ReplyTo done);

}  // namespace hodei::api
