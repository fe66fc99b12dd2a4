// LogStreamService: the calls about the output of jobs, and their lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/log_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/api/calls/source.h"

namespace hodei::api {

struct LogPorts {
  server::LogHub& logs;
  Files files;
  Commands& commands;
};

// log_source.cc
SourceOr<v1::LogChunk> subscribe_logs(const LogPorts& p, const Call& call, const v1::SubscribeLogsRequest& in);

void get_logs(const LogPorts& p, const Call& call, const v1::GetLogsRequest& in, Answer<v1::GetLogsResponse> answer);
void clear_logs(const LogPorts& p, const Call& call, const v1::ClearLogsRequest& in,
                Answer<v1::ClearLogsResponse> answer);

struct LogCalls {
  static constexpr std::string_view service = "hodei.v1.LogStreamService";
  using Ports = LogPorts;
  static Ports ports(const ServerPorts& s) { return {s.logs, s.files, s.commands}; }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.source({"SubscribeLogs", Who::Viewer, By::Files, Get, "/api/v1/jobs/{job_id}/logs:follow"}, subscribe_logs);
    v.unary({"GetLogs", Who::Viewer, By::Files, Get, "/api/v1/jobs/{job_id}/logs"}, get_logs);
    v.unary({"ClearLogs", Who::Operator, By::Files, Delete, "/api/v1/jobs/{job_id}/logs", Audited::Yes}, clear_logs);
  }
};

}  // namespace hodei::api
