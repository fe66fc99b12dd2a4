// What the stream of a worker needs of the server.
#pragma once

#include "src/base/time.h"
#include "src/server/heartbeats.h"
#include "src/server/input/job_inputs.h"
#include "src/server/logs/log_hub.h"
#include "src/server/loop.h"
#include "src/server/metrics/metrics_recorder.h"
#include "src/server/order_writer.h"
#include "src/server/refused_claims.h"
#include "src/server/secrets/vault.h"
#include "src/server/worker_links.h"
#include "src/store/store.h"

namespace hodei::api {

struct WorkerStreamPorts {
  server::Loop& loop;
  server::WorkerLinks& links;
  server::OrderWriter& orders;
  server::Heartbeats& heartbeats;
  server::RefusedClaims& refused_claims;
  server::MetricsRecorder& recorder;
  server::LogHub& logs;
  server::JobInputs& inputs;
  const server::Vault& vault;
  store::Reader& lookups;
  const Clock& clock;
};

}  // namespace hodei::api
