// ProviderManagementService.
#pragma once

#include "hodei/v1/provider_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

class ProviderService final : public v1::ProviderManagementService::CallbackService {
 public:
  explicit ProviderService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* RegisterProvider(Context* c, const v1::RegisterProviderRequest* in, v1::Provider* out) override;
  Unary* UpdateProvider(Context* c, const v1::UpdateProviderRequest* in, v1::Provider* out) override;
  Unary* RemoveProvider(Context* c, const v1::RemoveProviderRequest* in, v1::RemoveProviderResponse* out) override;
  Unary* ListProviders(Context* c, const v1::ListProvidersRequest* in, v1::ListProvidersResponse* out) override;
  Unary* GetProvider(Context* c, const v1::GetProviderRequest* in, v1::Provider* out) override;
  Unary* GetProviderHealth(Context* c, const v1::GetProviderHealthRequest* in, v1::ProviderHealth* out) override;
  Unary* GetWorkerLogs(Context* c, const v1::GetWorkerLogsRequest* in, v1::GetWorkerLogsResponse* out) override;
  Unary* SetPool(Context* c, const v1::SetPoolRequest* in, v1::Pool* out) override;
  Unary* RemovePool(Context* c, const v1::RemovePoolRequest* in, v1::RemovePoolResponse* out) override;
  Unary* ListPools(Context* c, const v1::ListPoolsRequest* in, v1::ListPoolsResponse* out) override;

 private:
  server::Server& server_;
};

}  // namespace hodei::api
