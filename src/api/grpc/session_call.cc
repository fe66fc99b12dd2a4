#include "src/api/grpc/session_call.h"

#include "src/base/sha256.h"

namespace hodei::api {

std::optional<Hash128> session_in(const grpc::CallbackServerContext& context) {
  const auto it = context.client_metadata().find("hodei-session");
  if (it == context.client_metadata().end()) return std::nullopt;
  return secret_hash(std::string_view(it->second.data(), it->second.size()));
}

absl::Status needs_session() {
  return absl::UnauthenticatedError("hodei-session: this call needs a worker's session id in its metadata");
}

void find_worker(server::Server& server, const Hash128& session, std::function<void(absl::StatusOr<WorkerId>)> found) {
  server.loop().post_bounded(core::Question(core::FindSession{session}),
                             [&server, found = std::move(found)](absl::StatusOr<core::Reply> reply) {
                               if (absl::IsUnauthenticated(reply.status()))
                                 server.refused_claims().count(server::Claim::Session);
                               if (!reply.ok()) return found(reply.status());
                               found(std::get<core::Registered>(*reply).worker);
                             });
}

grpc::ServerUnaryReactor* decide_for_worker(server::Server& server, grpc::CallbackServerContext* context,
                                            std::function<absl::StatusOr<core::Command>(const WorkerId&)> make,
                                            std::function<void(const core::Reply&)> fill) {
  const std::optional<Hash128> session = session_in(*context);
  if (!session) {
    server.refused_claims().count(server::Claim::Session);
    return finish(context, needs_session());
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  find_worker(server, *session,
              [&server, reactor, make = std::move(make), fill = std::move(fill)](absl::StatusOr<WorkerId> worker) {
                if (!worker.ok()) return reactor->Finish(to_grpc(worker.status()));
                absl::StatusOr<core::Command> command = make(*worker);
                if (!command.ok()) return reactor->Finish(to_grpc(command.status()));
                server.loop().post(*std::move(command), [reactor, fill](absl::StatusOr<core::Reply> reply) {
                  if (reply.ok()) fill(*reply);
                  reactor->Finish(to_grpc(reply.status()));
                });
              });
  return reactor;
}

}  // namespace hodei::api
