// ProviderManagementService: the calls about providers and pools, and their lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/provider_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"

namespace hodei::api {

struct ProviderPorts {
  Commands& commands;
  Providers& providers;
  server::OpenCalls& open_calls;
  const Clock& clock;
};

void register_provider(const ProviderPorts& p, const Call& call, const v1::RegisterProviderRequest& in,
                       Answer<v1::Provider> answer);
void update_provider(const ProviderPorts& p, const Call& call, const v1::UpdateProviderRequest& in,
                     Answer<v1::Provider> answer);
void remove_provider(const ProviderPorts& p, const Call& call, const v1::RemoveProviderRequest& in,
                     Answer<v1::RemoveProviderResponse> answer);
void list_providers(const ProviderPorts& p, const Call& call, const v1::ListProvidersRequest& in,
                    Answer<v1::ListProvidersResponse> answer);
void get_provider(const ProviderPorts& p, const Call& call, const v1::GetProviderRequest& in,
                  Answer<v1::Provider> answer);
void get_provider_health(const ProviderPorts& p, const Call& call, const v1::GetProviderHealthRequest& in,
                         Answer<v1::ProviderHealth> answer);
void get_worker_logs(const ProviderPorts& p, const Call& call, const v1::GetWorkerLogsRequest& in,
                     Answer<v1::GetWorkerLogsResponse> answer);
void set_pool(const ProviderPorts& p, const Call& call, const v1::SetPoolRequest& in, Answer<v1::Pool> answer);
void remove_pool(const ProviderPorts& p, const Call& call, const v1::RemovePoolRequest& in,
                 Answer<v1::RemovePoolResponse> answer);
void list_pools(const ProviderPorts& p, const Call& call, const v1::ListPoolsRequest& in,
                Answer<v1::ListPoolsResponse> answer);

struct ProviderCalls {
  static constexpr std::string_view service = "hodei.v1.ProviderManagementService";
  using Ports = ProviderPorts;
  static Ports ports(const ServerPorts& s) { return {s.commands, s.providers, s.open_calls, s.clock}; }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.unary({"RegisterProvider", Who::Admin, By::Loop, Post, "/api/v1/providers", Audited::Yes, Waits::Yes},
            register_provider);
    v.unary({"UpdateProvider", Who::Admin, By::Loop, Patch, "/api/v1/providers/{name}", Audited::Yes, Waits::Yes},
            update_provider);
    v.unary({"RemoveProvider", Who::Admin, By::Loop, Delete, "/api/v1/providers/{name}", Audited::Yes},
            remove_provider);
    v.unary({"ListProviders", Who::Admin, By::Loop, Get, "/api/v1/providers"}, list_providers);
    v.unary({"GetProvider", Who::Admin, By::Loop, Get, "/api/v1/providers/{name}"}, get_provider);
    v.unary({"GetProviderHealth", Who::Admin, By::Providers, Get, "/api/v1/providers/{name}/health", Audited::No,
             Waits::Yes},
            get_provider_health);
    v.unary(
        {"GetWorkerLogs", Who::Admin, By::Providers, Get, "/api/v1/workers/{worker_id}/logs", Audited::No, Waits::Yes},
        get_worker_logs);
    v.unary({"SetPool", Who::Admin, By::Loop, Put, "/api/v1/pools/{pool.name}", Audited::Yes}, set_pool);
    v.unary({"RemovePool", Who::Admin, By::Loop, Delete, "/api/v1/pools/{name}", Audited::Yes}, remove_pool);
    v.unary({"ListPools", Who::Admin, By::Loop, Get, "/api/v1/pools"}, list_pools);
  }
};

}  // namespace hodei::api
