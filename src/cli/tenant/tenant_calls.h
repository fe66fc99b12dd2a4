// The calls about tenants and limits.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "src/cli/client/client.h"

namespace hodei::cli {

inline absl::StatusOr<v1::ListTenantsResponse> list_tenants(Client& client) {
  return client.call<v1::ListTenantsResponse>("/hodei.v1.SchedulerService/ListTenants", v1::ListTenantsRequest());
}

inline absl::StatusOr<v1::Tenant> set_tenant(Client& client, const v1::SetTenantRequest& request) {
  return client.call<v1::Tenant>("/hodei.v1.SchedulerService/SetTenant", request);
}

inline absl::StatusOr<v1::ListLimitsResponse> list_limits(Client& client, const v1::ListLimitsRequest& request) {
  return client.call<v1::ListLimitsResponse>("/hodei.v1.SchedulerService/ListLimits", request);
}

inline absl::StatusOr<v1::Limit> set_limit(Client& client, const v1::SetLimitRequest& request) {
  return client.call<v1::Limit>("/hodei.v1.SchedulerService/SetLimit", request);
}

inline absl::Status remove_limit(Client& client, const v1::RemoveLimitRequest& request) {
  return client.call<v1::RemoveLimitResponse>("/hodei.v1.SchedulerService/RemoveLimit", request, Retry::Never).status();
}

}  // namespace hodei::cli
