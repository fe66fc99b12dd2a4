// Upload and Download: one piece at a time, the next when the last is dealt with, so that size costs no memory.
//
// A worker names the execution that it speaks for. It must be its own and still under way, and the job's spec must name
// the file, as an input to fetch or an output to store: a worker takes nobody else's files.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "hodei/v1/artifact_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// Who may call: anybody, or at an address for workers only those that name an execution.
enum class Callers : uint8_t { All = 1, WorkersOnly };

// What a person means by a name. Only Upload and Download take an execution.
absl::StatusOr<server::ArtifactKey> artifact_key(const v1::ArtifactName& name);
void to_proto(const server::ArtifactInfo& info, v1::StoredArtifact* out);

grpc::ServerReadReactor<v1::UploadArtifactRequest>* start_upload(server::Server& server,
                                                                 const grpc::CallbackServerContext& context,
                                                                 Callers callers, v1::StoredArtifact* out);
grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* start_download(server::Server& server,
                                                                       const grpc::CallbackServerContext& context,
                                                                       Callers callers,
                                                                       const v1::DownloadArtifactRequest& request);

}  // namespace hodei::api
