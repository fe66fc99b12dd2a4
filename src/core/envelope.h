// What comes with a command besides its content: for whom it is decided, who sent it, and how to find it again. The
// binding of a call makes it; the audit trail reads it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "src/base/time.h"

namespace hodei::core {

// Who sent a command. Until there is access control, a client says itself who it is, so the name is not verified.
struct Principal {
  std::string name;
  bool verified = false;
  std::string source;  // the address that the command came from; may be empty

  bool empty() const { return name.empty(); }
  // As the audit trail has it: "local (ipv4:10.0.0.7:4711)".
  std::string text() const { return source.empty() ? name : name + " (" + source + ")"; }
};

struct Envelope {
  std::string ns;
  Principal principal;  // empty: the server acts on its own, and the audit trail has nothing of it
  std::string request_id;
  std::string correlation_id;
  MonoTime deadline = kNever;
};

// Shared by the commands of one call or connection; null: the server's own act.
using EnvelopePtr = std::shared_ptr<const Envelope>;

// For what the server does in its own name and has recorded: "server (provider docker)".
inline EnvelopePtr from_server(std::string part = "") {
  Envelope envelope;
  envelope.principal = {.name = "server", .verified = true, .source = std::move(part)};
  return std::make_shared<const Envelope>(std::move(envelope));
}

// Of commands that the server gives itself: ticks, reports of workers and providers.
inline const Envelope kOwnAct{};

}  // namespace hodei::core
