// The server's store of artifacts as the commands see it: contents stream, so they have a client of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "hodei/v1/artifact_service.pb.h"
#include "src/cli/session/session.h"

namespace hodei::cli {

class ArtifactClient {
 public:
  explicit ArtifactClient(Session& session);
  ~ArtifactClient();

  // `next` gives the content piece by piece, and nothing at its end. Not tried again: half of it may have been read.
  absl::StatusOr<v1::StoredArtifact> upload(const v1::UploadArtifactRequest::Header& header,
                                            const std::function<absl::StatusOr<std::string>()>& next);
  // Calls `take` with what comes, until the end or until it answers false. A broken call may be made again with the
  // offset where it stood (Client::is_break).
  absl::Status download(const v1::DownloadArtifactRequest& request,
                        const std::function<bool(const v1::DownloadArtifactResponse&)>& take);
  absl::StatusOr<v1::ListArtifactsResponse> list(const v1::ListArtifactsRequest& request);
  absl::Status remove(const v1::DeleteArtifactRequest& request);

 private:
  struct Wire;
  Session& session_;
  std::unique_ptr<Wire> wire_;
};

}  // namespace hodei::cli
