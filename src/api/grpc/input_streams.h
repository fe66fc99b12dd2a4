// The streams of JobInputService: standard input of jobs, from clients and to workers.
#pragma once

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/input_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/inputs/input_calls.h"

namespace hodei::api {

using SendInputReactor = grpc::ServerBidiReactor<v1::SendInputRequest, v1::SendInputResponse>;
using TakeInputReactor = grpc::ServerBidiReactor<v1::TakeInputRequest, v1::TakeInputResponse>;

SendInputReactor* start_input_sender(const InputPorts& ports, const Call& call);
TakeInputReactor* start_input_taker(const InputPorts& ports, const Call& call);

}  // namespace hodei::api
