// ExecutionEventStream and SchedulingDecisionStream: events of the hub on their way to a client.
#pragma once

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/job_service.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

grpc::ServerWriteReactor<v1::ExecutionEvent>* start_event_stream(server::Server& server,
                                                                 const v1::ExecutionEventStreamRequest& request);

grpc::ServerWriteReactor<v1::SchedulingDecision>* start_decision_stream(
    server::Server& server, const v1::SchedulingDecisionStreamRequest& request);

}  // namespace hodei::api
