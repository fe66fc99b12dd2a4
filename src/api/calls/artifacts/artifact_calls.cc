#include "src/api/calls/artifacts/artifact_calls.h"

#include <algorithm>

#include "src/api/calls/artifacts/artifact_access.h"
#include "src/api/calls/read_call.h"
#include "src/base/status.h"
#include "src/spec/submission.h"
#include "src/spec/timestamp.h"

namespace hodei::api {

void to_proto(const server::ArtifactInfo& info, v1::StoredArtifact* out) {
  out->set_namespace_(info.key.ns);
  out->set_name(info.key.name);
  out->set_size(info.size);
  out->set_sha256(info.sha256);
  spec::set_time(info.created, out->mutable_created_at());
  spec::set_time(info.expires, out->mutable_expires_at());
}

void list_artifacts(const ArtifactPorts& p, const Call& call, const v1::ListArtifactsRequest& in,
                    Answer<v1::ListArtifactsResponse> answer) {
  constexpr int kUsual = 100;
  constexpr int kMost = 1000;
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  if (in.page_size() < 0 || in.page_size() > kMost) {
    return answer.give(bad_field("page_size", "must be between 0 and ", kMost));
  }
  const auto most = static_cast<size_t>(in.page_size() == 0 ? kUsual : in.page_size());
  read(
      p.files, call, kLong,
      [&p, &in, out = answer.out, ns = *ns, most](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const auto found, p.artifacts.list(ns, in.prefix(), in.page_token(), most + 1));
        for (size_t i = 0; i < std::min(most, found.size()); ++i) to_proto(found[i], out->add_artifacts());
        if (found.size() > most) out->set_next_page_token(found[most - 1].key.name);
        return absl::OkStatus();
      },
      answer.give);
}

void stat_artifact(const ArtifactPorts& p, const Call& call, const v1::StatArtifactRequest& in,
                   Answer<v1::StoredArtifact> answer) {
  read(
      p.files, call, kQuick,
      [&p, &in, out = answer.out](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const auto key, artifact_key(in.artifact()));
        ASSIGN_OR_RETURN(const auto info, p.artifacts.stat(key));
        to_proto(info, out);
        return absl::OkStatus();
      },
      answer.give);
}

void delete_artifact(const ArtifactPorts& p, const Call& call, const v1::DeleteArtifactRequest& in,
                     Answer<v1::DeleteArtifactResponse> answer) {
  read(
      p.files, call, kLong,
      [&p, &in](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const auto key, artifact_key(in.artifact()));
        return p.artifacts.remove(key);
      },
      answer.give);
}

}  // namespace hodei::api
