#include "src/api/grpc/worker_door.h"

#include "grpcpp/grpcpp.h"
#include "src/api/grpc/edge_limits.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

// What a worker calls. All else of the service is answered with UNIMPLEMENTED.
class WorkerCalls final : public v1::WorkerAgentService::CallbackService {
 public:
  explicit WorkerCalls(WorkerService& all) : all_(all) {}
  Unary* Register(Context* c, const v1::RegisterRequest* in, v1::RegisterResponse* out) override {
    return all_.Register(c, in, out);
  }
  grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerStream(Context* c) override {
    return all_.WorkerStream(c);
  }
  Unary* UpdateWorkerStatus(Context* c, const v1::UpdateWorkerStatusRequest* in,
                            v1::UpdateWorkerStatusResponse* out) override {
    return all_.UpdateWorkerStatus(c, in, out);
  }
  Unary* UnregisterWorker(Context* c, const v1::UnregisterWorkerRequest* in,
                          v1::UnregisterWorkerResponse* out) override {
    return all_.UnregisterWorker(c, in, out);
  }

 private:
  WorkerService& all_;
};

// What a worker needs to bring a job its inputs and take its outputs away: not the list of what others have stored.
class ArtifactCalls final : public v1::ArtifactService::CallbackService {
 public:
  explicit ArtifactCalls(ArtifactService& all) : all_(all) {}
  grpc::ServerReadReactor<v1::UploadArtifactRequest>* Upload(Context* c, v1::StoredArtifact* out) override {
    return all_.upload_by_worker(c, out);
  }
  grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* Download(Context* c,
                                                                   const v1::DownloadArtifactRequest* in) override {
    return all_.download_by_worker(c, in);
  }

 private:
  ArtifactService& all_;
};

// The standard input of its own executions; sending one is for clients.
class InputCalls final : public v1::JobInputService::CallbackService {
 public:
  explicit InputCalls(InputService& all) : all_(all) {}
  TakeInputReactor* Take(Context* c) override { return all_.Take(c); }

 private:
  InputService& all_;
};

}  // namespace

struct WorkerDoor::Parts {
  explicit Parts(const Services& all) : workers(all.workers), artifacts(all.artifacts), inputs(all.inputs) {}
  WorkerCalls workers;
  ArtifactCalls artifacts;
  InputCalls inputs;
  std::unique_ptr<grpc::Server> server;
};

absl::StatusOr<std::unique_ptr<WorkerDoor>> WorkerDoor::open(const std::string& address, const Services& services) {
  auto parts = std::make_unique<Parts>(services);
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
  return std::unique_ptr<WorkerDoor>(new WorkerDoor(std::move(parts)));
}

WorkerDoor::WorkerDoor(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

WorkerDoor::~WorkerDoor() { stop(); }

void WorkerDoor::stop() {
  if (parts_->server == nullptr) return;
  parts_->server->Shutdown(deadline_in(kGraceOnStop));
  parts_->server->Wait();
  parts_->server = nullptr;
}

}  // namespace hodei::api
