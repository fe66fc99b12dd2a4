#include "src/api/calls/session.h"

#include <utility>

#include "src/api/calls/envelope.h"

namespace hodei::api {

absl::Status needs_session() {
  return absl::UnauthenticatedError("hodei-session: this call needs a worker's session id in its metadata");
}

void find_worker(const Sessions& sessions, const Call& call, std::function<void(absl::StatusOr<WorkerId>)> found) {
  sessions.commands.post_bounded(
      call.envelope, core::Question(core::FindSession{*call.session}),
      [&refused = sessions.refused, found = std::move(found)](const absl::StatusOr<core::Reply>& reply) {
        if (absl::IsUnauthenticated(reply.status())) refused.count(server::Claim::Session);
        if (!reply.ok()) return found(reply.status());
        found(std::get<core::Registered>(*reply).worker);
      });
}

void decide_for_worker(const Sessions& sessions, const Call& call,
                       std::function<absl::StatusOr<core::Command>(const WorkerId&)> make, ReplyTo done) {
  if (!call.session) {
    sessions.refused.count(server::Claim::Session);
    return done(needs_session());
  }
  find_worker(sessions, call,
              [&commands = sessions.commands, envelope = call.envelope, make = std::move(make),
               done = std::move(done)](const absl::StatusOr<WorkerId>& worker) {
                if (!worker.ok()) return done(worker.status());
                absl::StatusOr<core::Command> command = make(*worker);
                if (!command.ok()) return done(command.status());
                commands.post(as_worker(*envelope, worker->str()), *std::move(command), done);
              });
}

}  // namespace hodei::api
