// WorkerAgentService.
#pragma once

#include <mutex>

#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// Versions of the worker protocol that this server speaks.
inline constexpr uint32_t kProtocolMin = 1;
inline constexpr uint32_t kProtocolMax = 1;

// Refused registrations that the audit trail takes in a minute.
inline constexpr int kMaxRefusalsPerMinute = 60;

class WorkerService final : public v1::WorkerAgentService::CallbackService {
 public:
  explicit WorkerService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* Register(Context* c, const v1::RegisterRequest* in, v1::RegisterResponse* out) override;
  grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerStream(Context* c) override;
  Unary* UpdateWorkerStatus(Context* c, const v1::UpdateWorkerStatusRequest* in,
                            v1::UpdateWorkerStatusResponse* out) override;
  Unary* UnregisterWorker(Context* c, const v1::UnregisterWorkerRequest* in,
                          v1::UnregisterWorkerResponse* out) override;
  Unary* RemoveWorker(Context* c, const v1::RemoveWorkerRequest* in, v1::RemoveWorkerResponse* out) override;
  Unary* ListWorkers(Context* c, const v1::ListWorkersRequest* in, v1::ListWorkersResponse* out) override;
  Unary* GetWorker(Context* c, const v1::GetWorkerRequest* in, v1::Worker* out) override;
  Unary* DrainWorker(Context* c, const v1::DrainWorkerRequest* in, v1::DrainWorkerResponse* out) override;
  Unary* UndrainWorker(Context* c, const v1::UndrainWorkerRequest* in, v1::Worker* out) override;
  Unary* TaintWorker(Context* c, const v1::TaintWorkerRequest* in, v1::Worker* out) override;
  Unary* CreateOtp(Context* c, const v1::CreateOtpRequest* in, v1::CreateOtpResponse* out) override;

 private:
  // That somebody was not let in, at most so many times a minute: whoever knocks all night must not fill the disk.
  void record_refusal(const Context& c, const std::string& worker, const absl::Status& why);

  server::Server& server_;
  std::mutex mutex_;  // guards the two below
  MonoTime minute_began_{0};
  int refusals_ = 0;
};

}  // namespace hodei::api
