#include "src/api/grpc/services.h"

#include "src/api/grpc/queue_stream.h"
#include "src/api/grpc/upload_stream.h"
#include "src/api/grpc/worker_link.h"

namespace hodei::api {

JobService::JobService(const AllCalls& calls, Callers callers)
    : BoundTo(calls.transport, callers), ports_(calls.of<JobCalls>()) {
  bind<JobCalls>(calls);
}

grpc::ServerBidiReactor<v1::QueueJobRequest, v1::QueueJobResponse>* JobService::QueueJobs(
    grpc::CallbackServerContext* context) {
  return new QueueStream(ports_, facts(*context));
}

WorkerService::WorkerService(const AllCalls& calls, server::Server& server, Callers callers)
    : BoundTo(calls.transport, callers), server_(server) {
  bind<WorkerCalls>(calls);
}

grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerService::WorkerStream(
    grpc::CallbackServerContext*) {
  return std::make_shared<WorkerStreamLink>(server_)->start();
}

ArtifactService::ArtifactService(const AllCalls& calls, Callers callers)
    : BoundTo(calls.transport, callers), ports_(calls.of<ArtifactCalls>()) {
  bind<ArtifactCalls>(calls);
}

grpc::ServerReadReactor<v1::UploadArtifactRequest>* ArtifactService::Upload(grpc::CallbackServerContext* context,
                                                                            v1::StoredArtifact* out) {
  return start_upload(ports_, make_call(facts(*context), "", ""), out);
}

InputService::InputService(const AllCalls& calls, Callers callers)
    : BoundTo(calls.transport, callers), ports_(calls.of<InputCalls>()) {}

SendInputReactor* InputService::Send(grpc::CallbackServerContext* context) {
  if (callers_ == Callers::WorkersOnly) return BoundTo::Send(context);
  return start_input_sender(ports_, make_call(facts(*context), "", ""));
}

TakeInputReactor* InputService::Take(grpc::CallbackServerContext* context) {
  return start_input_taker(ports_, make_call(facts(*context), "", ""));
}

}  // namespace hodei::api
