// LogStreamService.
#pragma once

#include "hodei/v1/log_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

class LogService final : public v1::LogStreamService::CallbackService {
 public:
  explicit LogService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  grpc::ServerWriteReactor<v1::LogChunk>* SubscribeLogs(Context* c, const v1::SubscribeLogsRequest* in) override;
  Unary* GetLogs(Context* c, const v1::GetLogsRequest* in, v1::GetLogsResponse* out) override;
  Unary* ClearLogs(Context* c, const v1::ClearLogsRequest* in, v1::ClearLogsResponse* out) override;

 private:
  server::Server& server_;
};

}  // namespace hodei::api
