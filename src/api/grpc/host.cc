#include "src/api/grpc/host.h"

#include <map>
#include <mutex>

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "src/api/grpc/artifact_service.h"
#include "src/api/grpc/edge_limits.h"
#include "src/api/grpc/input_service.h"
#include "src/api/grpc/job_service.h"
#include "src/api/grpc/log_service.h"
#include "src/api/grpc/metrics_service.h"
#include "src/api/grpc/provider_service.h"
#include "src/api/grpc/scheduler_service.h"
#include "src/api/grpc/worker_door.h"
#include "src/api/grpc/worker_service.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::api {

struct GrpcHost::Parts {
  Parts(server::Server& s, const std::string& address, std::function<LocalWorker()> local_worker)
      : host(s),
        jobs(s),
        workers(s),
        scheduler(s),
        logs(s),
        metrics(s),
        artifacts(s),
        inputs(s),
        providers(s),
        admin(s, address, std::move(local_worker)) {}
  server::Server& host;
  bool leaving = false;  // it is about to stop: nobody should begin anything here
  JobService jobs;
  WorkerService workers;
  SchedulerService scheduler;
  LogService logs;
  MetricsService metrics;
  ArtifactService artifacts;
  InputService inputs;
  ProviderService providers;
  AdminService admin;
  int port = 0;
  bool stopped = false;     // guarded by the mutex
  bool everywhere = false;  // it listens on all addresses of this machine already
  std::unique_ptr<grpc::Server> server;
  std::mutex mutex;  // guards the doors
  std::map<std::string, std::unique_ptr<WorkerDoor>> doors;
};

absl::StatusOr<std::unique_ptr<GrpcHost>> GrpcHost::open(server::Server& server, const std::string& address,
                                                         std::function<LocalWorker()> local_worker) {
  grpc::EnableDefaultHealthCheckService(true);
  static const bool once = [] {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  (void)once;
  auto parts = std::make_unique<Parts>(server, address, std::move(local_worker));
  parts->everywhere = address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &parts->port);
  set_edge_limits(builder);
  builder.RegisterService(&parts->jobs);
  builder.RegisterService(&parts->workers);
  builder.RegisterService(&parts->scheduler);
  builder.RegisterService(&parts->logs);
  builder.RegisterService(&parts->metrics);
  builder.RegisterService(&parts->artifacts);
  builder.RegisterService(&parts->inputs);
  builder.RegisterService(&parts->providers);
  builder.RegisterService(&parts->admin);
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
  ASSIGN_OR_RETURN(parts_->doors[host], WorkerDoor::open(cat(host, ":", parts_->port),
                                                         {parts_->workers, parts_->artifacts, parts_->inputs}));
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
  const server::LoopHealth health = parts_->host.loop().health();
  told->SetServingStatus("", !parts_->leaving && health.loaded && health.trouble.ok());
  for (const server::ServiceHealth& one : parts_->host.service_health()) {
    told->SetServingStatus(std::string(one.name), one.serving && !parts_->leaving);
  }
}

void GrpcHost::leave() {
  parts_->leaving = true;
  tell_health();
}

int GrpcHost::port() const { return parts_->port; }

}  // namespace hodei::api
