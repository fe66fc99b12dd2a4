// Creates the envelope of a call: its namespace, its principal, and the ids that identify it in logs. All transports
// create envelopes here.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "src/api/calls/call.h"

namespace hodei::api {

// What a transport says about a call, as it came; the same for every message of a stream. Empty: it says nothing.
struct CallFacts {
  std::string peer;
  std::string user;  // whom the client declares itself to be; nobody has checked it
  std::string request_id = {};
  std::string correlation_id = {};
  MonoTime deadline = kNever;
  std::optional<Hash128> session = {};
  std::string traceparent = {};
  std::string client = {};
  Callers callers = Callers::All;
};

// `ns` and `correlation_id` are what the request says.
Call make_call(const CallFacts& facts, const std::string& ns, const std::string& correlation_id);

// A request that has these fields says it there, and the field of the request wins.
template <class Request>
Call make_call(const CallFacts& facts, const Request& in) {
  static const std::string kNothing;
  const std::string* ns = &kNothing;
  const std::string* correlation_id = &kNothing;
  if constexpr (requires { in.namespace_(); }) ns = &in.namespace_();
  if constexpr (requires { in.correlation_id(); }) correlation_id = &in.correlation_id();
  return make_call(facts, *ns, *correlation_id);
}

// The same for a worker, whose session has been checked.
core::EnvelopePtr as_worker(const core::Envelope& envelope, const std::string& worker);

}  // namespace hodei::api
