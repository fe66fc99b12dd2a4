// SubscribeLogs: pulls the next chunk when the last one was written, so a slow client costs nothing but its own time.
#pragma once

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/log_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

void to_proto(const server::LogChunk& chunk, v1::LogChunk* out);
void to_proto(const server::LogEntry& entry, const std::string& job_id, v1::LogEntry* out);

grpc::ServerWriteReactor<v1::LogChunk>* start_log_stream(server::Server& server,
                                                         const v1::SubscribeLogsRequest& request);

}  // namespace hodei::api
