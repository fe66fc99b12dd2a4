// Who is connected: streams of workers with their heartbeats, calls that stay open, watchers of jobs.
#pragma once

#include "src/server/event_hub.h"
#include "src/server/heartbeats.h"
#include "src/server/open_calls.h"
#include "src/server/refused_claims.h"
#include "src/server/worker_links.h"

namespace hodei::server {

struct Connections {
  explicit Connections(const Clock& clock) : heartbeats(clock) {}

  WorkerLinks links;
  Heartbeats heartbeats;
  EventHub events;
  OpenCalls open_calls;
  RefusedClaims refused_claims;

  // The server stops: nobody has to wait for a time-out.
  void end_all() {
    open_calls.end_all();
    links.close_all("the server is shutting down; try again in a moment");
  }
};

}  // namespace hodei::server
