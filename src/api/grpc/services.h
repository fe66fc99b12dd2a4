// The services that have calls which are bound by hand, because the client streams.
#pragma once

#include "hodei/v1/artifact_service.grpc.pb.h"
#include "hodei/v1/input_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/api/calls/all_calls.h"
#include "src/api/grpc/binding.h"
#include "src/api/grpc/input_streams.h"

namespace hodei::server {
class Server;
}

namespace hodei::api {

// They have a class below; the others are made from the table.
using WithOwnClass = core::TypeList<JobCalls, WorkerCalls, ArtifactCalls, InputCalls>;

class JobService final : public Bound<v1::JobExecutionService> {
 public:
  JobService(const AllCalls& calls, Callers callers);
  grpc::ServerBidiReactor<v1::QueueJobRequest, v1::QueueJobResponse>* QueueJobs(
      grpc::CallbackServerContext* context) override;

 private:
  const JobPorts& ports_;
};

class WorkerService final : public Bound<v1::WorkerAgentService> {
 public:
  WorkerService(const AllCalls& calls, server::Server& server, Callers callers);
  grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerStream(
      grpc::CallbackServerContext* context) override;

 private:
  server::Server& server_;
};

class ArtifactService final : public Bound<v1::ArtifactService> {
 public:
  ArtifactService(const AllCalls& calls, Callers callers);
  grpc::ServerReadReactor<v1::UploadArtifactRequest>* Upload(grpc::CallbackServerContext* context,
                                                             v1::StoredArtifact* out) override;

 private:
  const ArtifactPorts& ports_;
};

class InputService final : public Bound<v1::JobInputService> {
 public:
  InputService(const AllCalls& calls, Callers callers);
  // At an address for workers only, nobody sends: that is for clients.
  SendInputReactor* Send(grpc::CallbackServerContext* context) override;
  TakeInputReactor* Take(grpc::CallbackServerContext* context) override;

 private:
  const InputPorts& ports_;
};

}  // namespace hodei::api
