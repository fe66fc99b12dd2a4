// AdminService.
#pragma once

#include <functional>

#include "hodei/v1/admin_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// Pids of the worker that `hodei dev` keeps.
struct LocalWorker {
  int64_t supervisor_pid = 0;
  int64_t agent_pid = 0;
};

// Who calls, for the audit trail.
std::string principal_of(const grpc::ServerContextBase& context);

class AdminService final : public v1::AdminService::CallbackService {
 public:
  AdminService(server::Server& server, std::string address, std::function<LocalWorker()> local_worker)
      : server_(server), address_(std::move(address)), local_worker_(std::move(local_worker)) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* GetSystemStatus(Context* c, const v1::GetSystemStatusRequest* in, v1::SystemStatus* out) override;
  // admin_secrets.cc
  Unary* PutSecret(Context* c, const v1::PutSecretRequest* in, v1::StoredSecret* out) override;
  Unary* DeleteSecret(Context* c, const v1::DeleteSecretRequest* in, v1::DeleteSecretResponse* out) override;
  Unary* ListSecrets(Context* c, const v1::ListSecretsRequest* in, v1::ListSecretsResponse* out) override;
  Unary* ListAudit(Context* c, const v1::ListAuditRequest* in, v1::ListAuditResponse* out) override;

 private:
  void fill(const core::SystemReport& report, v1::SystemStatus* out);

  server::Server& server_;
  std::string address_;
  std::function<LocalWorker()> local_worker_;
};

}  // namespace hodei::api
