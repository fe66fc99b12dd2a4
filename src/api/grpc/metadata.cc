#include "src/api/grpc/metadata.h"

#include <chrono>

#include "src/base/sha256.h"

namespace hodei::api {
namespace {

std::string metadata(const grpc::CallbackServerContext& context, const char* name) {
  const auto it = context.client_metadata().find(name);
  return it == context.client_metadata().end() ? std::string() : std::string(it->second.data(), it->second.size());
}

// gRPC has deadlines by the wall clock.
MonoTime deadline_of(const grpc::CallbackServerContext& context, const Clock& clock) {
  const std::chrono::system_clock::time_point at = context.deadline();
  if (at == std::chrono::system_clock::time_point::max()) return kNever;
  const Now now = clock.now();
  return now.mono + (std::chrono::duration_cast<Duration>(at.time_since_epoch()) - Duration(now.wall.us));
}

}  // namespace

CallFacts facts_of(const grpc::CallbackServerContext& context, Callers callers, const Clock& clock) {
  CallFacts facts;
  facts.peer = context.peer();
  facts.user = metadata(context, "hodei-user");
  facts.request_id = metadata(context, "hodei-request-id");
  facts.correlation_id = metadata(context, "hodei-correlation-id");
  facts.deadline = deadline_of(context, clock);
  if (context.client_metadata().contains("hodei-session")) {
    facts.session = secret_hash(metadata(context, "hodei-session"));
  }
  facts.traceparent = metadata(context, "traceparent");
  facts.client = metadata(context, "hodei-client");
  facts.callers = callers;
  return facts;
}

}  // namespace hodei::api
