#include "src/api/grpc/session_call.h"

#include "src/base/sha256.h"

namespace hodei::api {

grpc::ServerUnaryReactor* decide_for_worker(server::Server& server, grpc::CallbackServerContext* context,
                                            std::function<core::Command(const WorkerId&)> make,
                                            std::function<void(const core::Reply&)> fill) {
  const auto it = context->client_metadata().find("hodei-session");
  if (it == context->client_metadata().end()) {
    return finish(context, absl::UnauthenticatedError("hodei-session: the call needs a worker's session id in its metadata"));
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const core::Question who = core::FindSession{secret_hash(std::string_view(it->second.data(), it->second.size()))};
  server.loop().post_bounded(who, [&server, reactor, make = std::move(make), fill = std::move(fill)](auto found) {
    if (!found.ok()) return reactor->Finish(to_grpc(found.status()));
    const WorkerId worker = std::get<core::Registered>(*found).worker;
    server.loop().post(make(worker), [reactor, fill](absl::StatusOr<core::Reply> reply) {
      if (reply.ok()) fill(*reply);
      reactor->Finish(to_grpc(reply.status()));
    });
  });
  return reactor;
}

}  // namespace hodei::api
