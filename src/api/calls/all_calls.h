// The calls of all services, and the ports that they need.
#pragma once

#include "src/api/calls/admin/admin_calls.h"
#include "src/api/calls/artifacts/artifact_calls.h"
#include "src/api/calls/inputs/input_calls.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/logs/log_calls.h"
#include "src/api/calls/metrics/metrics_calls.h"
#include "src/api/calls/providers/provider_calls.h"
#include "src/api/calls/pump.h"
#include "src/api/calls/scheduler/scheduler_calls.h"
#include "src/api/calls/workers/worker_calls.h"

namespace hodei::api {

struct AllCalls {
  JobPorts jobs;
  WorkerPorts workers;
  SchedulerPorts scheduler;
  LogPorts logs;
  MetricsPorts metrics;
  ArtifactPorts artifacts;
  InputPorts inputs;
  ProviderPorts providers;
  AdminPorts admin;
  TransportPorts transport;
};

}  // namespace hodei::api
