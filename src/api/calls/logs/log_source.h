// Output of jobs as messages.
#pragma once

#include "hodei/v1/log_service.pb.h"
#include "src/server/logs/log_hub.h"

namespace hodei::api {

void to_proto(const server::LogChunk& chunk, v1::LogChunk* out);
void to_proto(const server::LogEntry& entry, const std::string& job_id, v1::LogEntry* out);

}  // namespace hodei::api
