#include "src/api/grpc/host.h"

#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "src/api/grpc/binding.h"
#include "src/api/grpc/edge_limits.h"
#include "src/api/grpc/services.h"
#include "src/api/grpc/worker_door.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/server/server.h"

namespace hodei::api {

struct GrpcHost::Parts {
  Parts(const AllCalls& all, server::Server& s) : calls(all), server_parts(s) {
    add(std::make_unique<JobService>(all, Callers::All));
    add(std::make_unique<WorkerService>(all, s, Callers::All));
    add(std::make_unique<ArtifactService>(all, Callers::All));
    add(std::make_unique<InputService>(all, Callers::All));
    core::each_type(AllServices{}, [this]<class Service>(std::type_identity<Service>) {
      if constexpr (!core::is_in_list<Service, WithOwnClass>) add_from_table<Service>();
    });
  }

  void add(std::unique_ptr<grpc::Service> service) { services.push_back(std::move(service)); }
  // One whose calls are all in the table.
  template <class Service>
  void add_from_table() {
    auto service = std::make_unique<TableService>(calls.transport, Callers::All, Service::service);
    service->template bind<Service>(calls);
    add(std::move(service));
  }

  const AllCalls& calls;
  server::Server& server_parts;
  bool leaving = false;  // it is about to stop: nobody should begin anything here
  std::vector<std::unique_ptr<grpc::Service>> services;
  int port = 0;
  bool stopped = false;     // guarded by the mutex
  bool everywhere = false;  // it listens on all addresses of this machine already
  std::unique_ptr<grpc::Server> server;
  std::mutex mutex;  // guards the doors
  std::map<std::string, std::unique_ptr<WorkerDoor>> doors;
};

absl::StatusOr<std::unique_ptr<GrpcHost>> GrpcHost::open(const AllCalls& calls, server::Server& server,
                                                         const std::string& address) {
  grpc::EnableDefaultHealthCheckService(true);
  static const bool once = [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  (void)once;
  auto parts = std::make_unique<Parts>(calls, server);
  parts->everywhere = address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &parts->port);
  set_edge_limits(builder);
  for (const auto& service : parts->services) builder.RegisterService(service.get());
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || parts->port == 0) {
    return absl::UnavailableError(cat("listen: cannot listen on ", address,
                                      "; the port is in use or not allowed: stop what uses it, or choose another "
                                      "with --listen or GRPC_PORT"));
  }
  std::unique_ptr<GrpcHost> host(new GrpcHost(std::move(parts)));
  host->tell_health();
  return host;
}

GrpcHost::GrpcHost(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

GrpcHost::~GrpcHost() { stop(); }

absl::Status GrpcHost::open_worker_door(const std::string& host) {
  const std::lock_guard lock(parts_->mutex);
  if (parts_->stopped) return absl::UnavailableError("the server is shutting down");
  if (parts_->everywhere || parts_->doors.contains(host)) return absl::OkStatus();
  ASSIGN_OR_RETURN(parts_->doors[host],
                   WorkerDoor::open(cat(host, ":", parts_->port), parts_->calls, parts_->server_parts));
  return absl::OkStatus();
}

void GrpcHost::stop() {
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->stopped = true;
    parts_->doors.clear();
  }
  if (parts_->server == nullptr) return;
  parts_->server->Shutdown(deadline_in(kGraceOnStop));
  parts_->server->Wait();
  parts_->server = nullptr;
}

// The whole of it serves as long as it takes commands; each service answers for itself.
void GrpcHost::tell_health() {
  if (parts_->server == nullptr) return;
  grpc::HealthCheckServiceInterface* told = parts_->server->GetHealthCheckService();
  const AdminPorts& admin = parts_->calls.of<AdminCalls>();
  told->SetServingStatus("", !parts_->leaving && admin.commands.is_well());
  for (const server::ServiceHealth& one : admin.system.services()) {
    told->SetServingStatus(std::string(one.name), one.serving && !parts_->leaving);
  }
}

void GrpcHost::leave() {
  parts_->leaving = true;
  tell_health();
}

int GrpcHost::port() const { return parts_->port; }

}  // namespace hodei::api
