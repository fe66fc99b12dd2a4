// All that calls may need of the server, as the wiring offers it. The calls of a service take their part of it and know
// nothing else.
#pragma once

#include "src/api/calls/ports.h"
#include "src/api/calls/replies.h"
#include "src/base/time.h"

namespace hodei::server {
class ArtifactStore;
class EventHub;
class JobInputs;
class LogHub;
class MetricsRecorder;
class OpenCalls;
class RefusedClaims;
class Vault;
}  // namespace hodei::server

namespace hodei::store {
class MetricsStore;
}

namespace hodei::api {

class RefusalLimit;

struct ServerPorts {
  Commands& commands;
  Stored stored;
  Files files;
  Sessions sessions;
  const Clock& clock;
  Replies& replies;
  server::OpenCalls& open_calls;
  server::RefusedClaims& refused;
  RefusalLimit& refusals;
  Duration lease;  // of a worker
  CheckRoom check_room;
  InputTrouble input_trouble;
  Providers& providers;
  System& system;
  const server::Vault& vault;
  server::LogHub& logs;
  server::EventHub& events;
  server::ArtifactStore& artifacts;
  server::JobInputs& inputs;
  server::MetricsRecorder& recorder;
  store::MetricsStore& samples;
};

}  // namespace hodei::api
