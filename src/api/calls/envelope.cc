#include "src/api/calls/envelope.h"

#include "fmt/format.h"
#include "src/base/random.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

// Longer ones are a mistake of the client, and are not kept with every command.
constexpr size_t kMaxGivenId = 200;

// A name that nobody has checked must not look like one of the server's own.
bool may_be_declared(const std::string& user) { return check_name("hodei-user", user).ok() && user != "server"; }

}  // namespace

Call make_call(const CallFacts& facts, const std::string& ns, const std::string& correlation_id) {
  core::Envelope envelope;
  if (check_name("namespace", ns).ok()) envelope.ns = ns;
  // There is no authentication yet: who says nothing is local, and the address says which one.
  envelope.principal = {.name = may_be_declared(facts.user) ? facts.user : "local", .source = facts.peer};
  const bool has_request_id = !facts.request_id.empty() && facts.request_id.size() <= kMaxGivenId;
  envelope.request_id = has_request_id ? facts.request_id : fmt::format("{:016x}", random_u64());
  // As it came, however long: a submission says what is wrong with it.
  envelope.correlation_id = correlation_id.empty() ? facts.correlation_id : correlation_id;
  if (envelope.correlation_id.empty()) envelope.correlation_id = random_uuid();
  envelope.deadline = facts.deadline;
  return {.envelope = std::make_shared<const core::Envelope>(std::move(envelope)),
          .session = facts.session,
          .traceparent = facts.traceparent,
          .client = facts.client,
          .callers = facts.callers};
}

core::EnvelopePtr as_worker(const core::Envelope& envelope, const std::string& worker) {
  core::Envelope out = envelope;
  out.principal.name = "worker " + worker;
  out.principal.verified = true;
  return std::make_shared<const core::Envelope>(std::move(out));
}

}  // namespace hodei::api
