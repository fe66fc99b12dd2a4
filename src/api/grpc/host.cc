#include "src/api/grpc/host.h"

#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "src/api/grpc/artifact_service.h"
#include "src/api/grpc/job_service.h"
#include "src/api/grpc/log_service.h"
#include "src/api/grpc/metrics_service.h"
#include "src/api/grpc/provider_service.h"
#include "src/api/grpc/scheduler_service.h"
#include "src/api/grpc/worker_service.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

// Limits at the edge; named in docs/limits.md.
constexpr int kMaxMessageBytes = 4 << 20;
constexpr int kMaxMetadataBytes = 16 << 10;
constexpr int kMaxStreamsPerConnection = 10'000;
constexpr int kStreamWindow = 4 << 20;
constexpr size_t kMaxBufferBytes = size_t{512} << 20;

}  // namespace

struct GrpcHost::Parts {
  Parts(server::Server& s, const std::string& address, std::function<LocalWorker()> local_worker)
      : jobs(s), workers(s), scheduler(s), logs(s), metrics(s), artifacts(s), providers(s), admin(s, address, std::move(local_worker)) {}
  JobService jobs;
  WorkerService workers;
  SchedulerService scheduler;
  LogService logs;
  MetricsService metrics;
  ArtifactService artifacts;
  ProviderService providers;
  AdminService admin;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
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
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &parts->port);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // A compressed message may unpack to anything, and its size is looked at only afterwards: 1 MB becomes 1 GB.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // Two servers must never share a port and split the callers between them.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  // Measuring the line costs pings that outnumber the calls; a window that fits a fast one is given at once instead.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindow);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  grpc::ResourceQuota quota("hodei");
  quota.Resize(kMaxBufferBytes);
  builder.SetResourceQuota(quota);
  builder.RegisterService(&parts->jobs);
  builder.RegisterService(&parts->workers);
  builder.RegisterService(&parts->scheduler);
  builder.RegisterService(&parts->logs);
  builder.RegisterService(&parts->metrics);
  builder.RegisterService(&parts->artifacts);
  builder.RegisterService(&parts->providers);
  builder.RegisterService(&parts->admin);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || parts->port == 0) {
    return absl::UnavailableError(cat("listen: cannot listen on ", address,
                                      "; the port is in use or not permitted: stop what uses it, or choose another "
                                      "with --listen or GRPC_PORT"));
  }
  return std::unique_ptr<GrpcHost>(new GrpcHost(std::move(parts)));
}

GrpcHost::GrpcHost(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

GrpcHost::~GrpcHost() { stop(); }

void GrpcHost::stop() {
  if (parts_->server == nullptr) return;
  parts_->server->Shutdown(deadline_in(2s));
  parts_->server->Wait();
  parts_->server = nullptr;
}

void GrpcHost::set_serving(bool serving) {
  if (parts_->server != nullptr) parts_->server->GetHealthCheckService()->SetServingStatus(serving);
}

int GrpcHost::port() const { return parts_->port; }

}  // namespace hodei::api
