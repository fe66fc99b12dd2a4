// Upload: one piece at a time, the next when the last is dealt with, so that size costs no memory.
#pragma once

#include "grpcpp/support/server_callback.h"
#include "src/api/calls/artifacts/artifact_calls.h"

namespace hodei::api {

grpc::ServerReadReactor<v1::UploadArtifactRequest>* start_upload(const ArtifactPorts& ports, const Call& call,
                                                                 v1::StoredArtifact* out);

}  // namespace hodei::api
