#include "src/api/grpc/worker_port.h"

#include "grpcpp/grpcpp.h"
#include "src/api/grpc/edge_limits.h"
#include "src/api/grpc/services.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::api {

// What a worker calls, by the table. All else of these services is answered with UNIMPLEMENTED.
struct WorkerPort::Parts {
  explicit Parts(const AllCalls& calls)
      : workers(calls, Callers::WorkersOnly),
        artifacts(calls, Callers::WorkersOnly),
        inputs(calls, Callers::WorkersOnly) {}
  WorkerService workers;
  ArtifactService artifacts;
  InputService inputs;
  std::unique_ptr<grpc::Server> server;
};

absl::StatusOr<std::unique_ptr<WorkerPort>> WorkerPort::open(const std::string& address, const AllCalls& calls) {
  auto parts = std::make_unique<Parts>(calls);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  set_edge_limits(builder);
  builder.RegisterService(&parts->workers);
  builder.RegisterService(&parts->artifacts);
  builder.RegisterService(&parts->inputs);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || port == 0) {
    return absl::UnavailableError(cat("cannot listen for workers on ", address,
                                      "; the port is in use, or the address does not belong to this machine"));
  }
  return std::unique_ptr<WorkerPort>(new WorkerPort(std::move(parts)));
}

WorkerPort::WorkerPort(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

WorkerPort::~WorkerPort() { stop(); }

void WorkerPort::stop() {
  if (parts_->server == nullptr) return;
  parts_->server->Shutdown(deadline_in(kGraceOnStop));
  parts_->server->Wait();
  parts_->server = nullptr;
}

}  // namespace hodei::api
