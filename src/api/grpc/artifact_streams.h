// Upload and Download: one piece at a time, the next when the last is dealt with, so that size costs no memory.
#pragma once

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/artifact_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

// What a request means by a name: a worker gives the execution that it speaks for instead of a namespace.
absl::StatusOr<server::ArtifactKey> artifact_key(server::Server& server, const v1::ArtifactName& name);
void to_proto(const server::ArtifactInfo& info, v1::StoredArtifact* out);

grpc::ServerReadReactor<v1::UploadArtifactRequest>* start_upload(server::Server& server, v1::StoredArtifact* out);
grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* start_download(server::Server& server,
                                                                       const v1::DownloadArtifactRequest& request);

}  // namespace hodei::api
