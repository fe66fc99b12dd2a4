// ArtifactService: the artifact store seen from outside, and its lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/artifact_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/api/calls/source.h"
#include "src/server/artifacts/artifact_store.h"

namespace hodei::api {

struct ArtifactPorts {
  server::ArtifactStore& artifacts;
  Files files;
  store::Reader& lookups;
  Sessions sessions;
  server::OpenCalls& open_calls;
  CheckRoom check_room;
};

// download.cc
SourceOr<v1::DownloadArtifactResponse> download_artifact(const ArtifactPorts& p, const Call& call,
                                                         const v1::DownloadArtifactRequest& in);

void list_artifacts(const ArtifactPorts& p, const Call& call, const v1::ListArtifactsRequest& in,
                    Answer<v1::ListArtifactsResponse> answer);
void stat_artifact(const ArtifactPorts& p, const Call& call, const v1::StatArtifactRequest& in,
                   Answer<v1::StoredArtifact> answer);
void delete_artifact(const ArtifactPorts& p, const Call& call, const v1::DeleteArtifactRequest& in,
                     Answer<v1::DeleteArtifactResponse> answer);

void to_proto(const server::ArtifactInfo& info, v1::StoredArtifact* out);

struct ArtifactCalls {
  static constexpr std::string_view service = "hodei.v1.ArtifactService";
  using Ports = ArtifactPorts;
  static Ports ports(const ServerPorts& s) {
    return {s.artifacts, s.files, s.stored.lookups, s.sessions, s.open_calls, s.check_room};
  }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.by_hand({"Upload", Who::OperatorOrWorker, By::Files, Put, "/api/v1/artifacts/{header.artifact.name=**}"});
    v.source({"Download", Who::OperatorOrWorker, By::Files, Get, "/api/v1/artifacts/{artifact.name=**}:download"},
             download_artifact);
    v.unary({"List", Who::Operator, By::Files, Get, "/api/v1/artifacts"}, list_artifacts);
    v.unary({"Stat", Who::Operator, By::Files, Get, "/api/v1/artifacts/{artifact.name=**}"}, stat_artifact);
    v.unary({"Delete", Who::Operator, By::Files, Delete, "/api/v1/artifacts/{artifact.name=**}"}, delete_artifact);
  }
};

}  // namespace hodei::api
