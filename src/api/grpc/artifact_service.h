// ArtifactService: the artifact store, seen from outside.
#pragma once

#include "hodei/v1/artifact_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

class ArtifactService final : public v1::ArtifactService::CallbackService {
 public:
  explicit ArtifactService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  grpc::ServerReadReactor<v1::UploadArtifactRequest>* Upload(Context* c, v1::StoredArtifact* out) override;
  grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* Download(Context* c,
                                                                   const v1::DownloadArtifactRequest* in) override;
  Unary* List(Context* c, const v1::ListArtifactsRequest* in, v1::ListArtifactsResponse* out) override;
  Unary* Stat(Context* c, const v1::StatArtifactRequest* in, v1::StoredArtifact* out) override;
  Unary* Delete(Context* c, const v1::DeleteArtifactRequest* in, v1::DeleteArtifactResponse* out) override;

  // At an address for workers only: with a session, for an execution.
  grpc::ServerReadReactor<v1::UploadArtifactRequest>* upload_by_worker(Context* c, v1::StoredArtifact* out);
  grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* download_by_worker(Context* c,
                                                                             const v1::DownloadArtifactRequest* in);

 private:
  server::Server& server_;
};

}  // namespace hodei::api
