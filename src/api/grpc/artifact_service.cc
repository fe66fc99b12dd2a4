#include "src/api/grpc/artifact_service.h"

#include "src/api/grpc/artifact_streams.h"
#include "src/api/grpc/submissions.h"
#include "src/api/grpc/unary.h"
#include "src/base/status.h"

namespace hodei::api {

grpc::ServerReadReactor<v1::UploadArtifactRequest>* ArtifactService::Upload(Context* c, v1::StoredArtifact* out) {
  return start_upload(server_, *c, Callers::All, out);
}

grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* ArtifactService::Download(
    Context* c, const v1::DownloadArtifactRequest* in) {
  return start_download(server_, *c, Callers::All, *in);
}

grpc::ServerReadReactor<v1::UploadArtifactRequest>* ArtifactService::upload_by_worker(Context* c,
                                                                                      v1::StoredArtifact* out) {
  return start_upload(server_, *c, Callers::WorkersOnly, out);
}

grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* ArtifactService::download_by_worker(
    Context* c, const v1::DownloadArtifactRequest* in) {
  return start_download(server_, *c, Callers::WorkersOnly, *in);
}

ArtifactService::Unary* ArtifactService::List(Context* c, const v1::ListArtifactsRequest* in, v1::ListArtifactsResponse* out) {
  constexpr int kUsual = 100;
  constexpr int kMost = 1000;
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  if (in->page_size() < 0 || in->page_size() > kMost) {
    return finish(c, bad_field("page_size", "must be between 0 and ", kMost));
  }
  const auto most = static_cast<size_t>(in->page_size() == 0 ? kUsual : in->page_size());
  const auto found = server_.artifacts().list(*ns, in->prefix(), in->page_token(), most + 1);
  if (!found.ok()) return finish(c, found.status());
  for (size_t i = 0; i < std::min(most, found->size()); ++i) to_proto((*found)[i], out->add_artifacts());
  if (found->size() > most) out->set_next_page_token((*found)[most - 1].key.name);
  return finish(c, absl::OkStatus());
}

ArtifactService::Unary* ArtifactService::Stat(Context* c, const v1::StatArtifactRequest* in, v1::StoredArtifact* out) {
  const auto key = artifact_key(in->artifact());
  if (!key.ok()) return finish(c, key.status());
  const auto info = server_.artifacts().stat(*key);
  if (info.ok()) to_proto(*info, out);
  return finish(c, info.status());
}

ArtifactService::Unary* ArtifactService::Delete(Context* c, const v1::DeleteArtifactRequest* in, v1::DeleteArtifactResponse*) {
  const auto key = artifact_key(in->artifact());
  return finish(c, key.ok() ? server_.artifacts().remove(*key) : key.status());
}

}  // namespace hodei::api
