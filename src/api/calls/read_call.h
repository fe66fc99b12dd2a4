// Runs calls that read the store or files. They run on threads of the read pool, with a time limit, and stop when the
// caller has gone away.
#pragma once

#include <functional>

#include "src/api/calls/call.h"
#include "src/api/calls/ports.h"

namespace hodei::api {

// What a list may take before it answers with what it has found so far. A page that is not full has a token to go on
// with.
inline constexpr Duration kReadTime = 500ms;

// For what is found at once, by its name: it does not wait for what takes long.
inline constexpr server::ReadPool::Lane kQuick = server::ReadPool::Lane::Quick;
inline constexpr server::ReadPool::Lane kLong = server::ReadPool::Lane::Long;

// May use the request and the response of its call: both live until the call is answered.
using ReadWork = std::function<absl::Status(const store::ReadLimit& limit)>;
using Done = std::function<void(const absl::Status&)>;

// `done` is given how it went; what is left to ask before the answer leaves is asked there.
void read(const Stored& stored, const Call& call, server::ReadPool::Lane lane, ReadWork work, Done done);
void read(const Files& files, const Call& call, server::ReadPool::Lane lane, ReadWork work, Done done);

// For calls that the loop has answered, and that have something to look up now.
void look_up(const Stored& stored, std::function<absl::Status()> work, Done done);

}  // namespace hodei::api
