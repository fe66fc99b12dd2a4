#include "src/api/grpc/artifact_service.h"

#include "src/api/grpc/artifact_streams.h"
#include "src/api/grpc/read_call.h"
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

ArtifactService::Unary* ArtifactService::List(Context* c, const v1::ListArtifactsRequest* in,
                                              v1::ListArtifactsResponse* out) {
  constexpr int kUsual = 100;
  constexpr int kMost = 1000;
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  if (in->page_size() < 0 || in->page_size() > kMost) {
    return finish(c, bad_field("page_size", "must be between 0 and ", kMost));
  }
  const auto most = static_cast<size_t>(in->page_size() == 0 ? kUsual : in->page_size());
  return read(
      server_, server_.files(), *c, kLong, [this, in, out, ns = *ns, most](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const auto found, server_.artifacts().list(ns, in->prefix(), in->page_token(), most + 1));
        for (size_t i = 0; i < std::min(most, found.size()); ++i) to_proto(found[i], out->add_artifacts());
        if (found.size() > most) out->set_next_page_token(found[most - 1].key.name);
        return absl::OkStatus();
      });
}

ArtifactService::Unary* ArtifactService::Stat(Context* c, const v1::StatArtifactRequest* in, v1::StoredArtifact* out) {
  return read(server_, server_.files(), *c, kQuick, [this, in, out](const store::ReadLimit&) -> absl::Status {
    ASSIGN_OR_RETURN(const auto key, artifact_key(in->artifact()));
    ASSIGN_OR_RETURN(const auto info, server_.artifacts().stat(key));
    to_proto(info, out);
    return absl::OkStatus();
  });
}

ArtifactService::Unary* ArtifactService::Delete(Context* c, const v1::DeleteArtifactRequest* in,
                                                v1::DeleteArtifactResponse*) {
  return read(server_, server_.files(), *c, kLong, [this, in](const store::ReadLimit&) -> absl::Status {
    ASSIGN_OR_RETURN(const auto key, artifact_key(in->artifact()));
    return server_.artifacts().remove(key);
  });
}

}  // namespace hodei::api
