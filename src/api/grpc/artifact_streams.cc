#include "src/api/grpc/artifact_streams.h"

#include "src/api/grpc/submissions.h"
#include "src/api/grpc/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxChunk = 1 << 20;
constexpr size_t kSentChunk = 256 << 10;

class UploadStream final : public grpc::ServerReadReactor<v1::UploadArtifactRequest> {
 public:
  UploadStream(server::Server& server, v1::StoredArtifact* out) : server_(server), out_(out) { StartRead(&part_); }

  // Writing and syncing are for threads that may wait for a disk. One piece at a time: the next is read after the last.
  void OnReadDone(bool ok) override {
    server_.files().post_always([this, ok] { go_on(ok); });
  }
  void OnDone() override { delete this; }

 private:
  void go_on(bool ok) {
    if (!ok) return end(absl::AbortedError("the upload broke off before its end"));
    if (part_.has_end()) return end(finish_upload());
    if (const absl::Status taken = take(); !taken.ok()) return end(taken);
    StartRead(&part_);
  }

  absl::Status take() {
    if (part_.has_header()) {
      if (upload_ != nullptr) return bad_field("header", "may only be in the first message");
      RETURN_IF_ERROR(server_.check_room());
      ASSIGN_OR_RETURN(const server::ArtifactKey key, artifact_key(server_, part_.header().artifact()));
      ASSIGN_OR_RETURN(upload_, server_.artifacts().begin(key, std::chrono::milliseconds(part_.header().expires_in_ms())));
      return absl::OkStatus();
    }
    if (upload_ == nullptr) return bad_field("header", "must be in the first message");
    if (part_.chunk().size() > kMaxChunk) return bad_field("chunk", "has at most ", kMaxChunk, " bytes");
    return upload_->append(part_.chunk());
  }

  absl::Status finish_upload() {
    if (upload_ == nullptr) return bad_field("header", "must be in the first message");
    if (part_.end().size() != upload_->size()) {
      return bad_field("end.size", "is ", part_.end().size(), ", but ", upload_->size(), " bytes have come");
    }
    ASSIGN_OR_RETURN(const server::ArtifactInfo info, upload_->finish());
    to_proto(info, out_);
    return absl::OkStatus();
  }

  void end(const absl::Status& status) {
    upload_.reset();
    Finish(to_grpc(status));
  }

  server::Server& server_;
  v1::StoredArtifact* out_;
  v1::UploadArtifactRequest part_;
  std::unique_ptr<server::ArtifactStore::Upload> upload_;
};

class DownloadStream final : public grpc::ServerWriteReactor<v1::DownloadArtifactResponse> {
 public:
  DownloadStream(server::Server& server, const v1::DownloadArtifactRequest& request) : server_(server) {
    server_.files().post_always([this, request] { begin(request); });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    part_.clear_artifact();
    server_.files().post_always([this] { send_next(); });
  }
  void OnDone() override { delete this; }

 private:
  void begin(const v1::DownloadArtifactRequest& request) {
    if (const absl::Status opened = open(server_, request); !opened.ok()) return Finish(to_grpc(opened));
    to_proto(content_->info(), part_.mutable_artifact());
    send_next();
  }

  absl::Status open(server::Server& server, const v1::DownloadArtifactRequest& request) {
    ASSIGN_OR_RETURN(const server::ArtifactKey key, artifact_key(server, request.artifact()));
    ASSIGN_OR_RETURN(content_, server.artifacts().content(key));
    offset_ = request.offset();
    if (offset_ >= 0 && offset_ <= content_->info().size) return absl::OkStatus();
    return bad_field("offset", "must be between 0 and the size, ", content_->info().size);
  }

  void send_next() {
    absl::StatusOr<std::string> chunk = content_->read(offset_, kSentChunk);
    if (!chunk.ok()) return Finish(to_grpc(chunk.status()));
    if (chunk->empty() && !part_.has_artifact()) return Finish(grpc::Status::OK);
    offset_ += static_cast<int64_t>(chunk->size());
    part_.set_chunk(std::move(*chunk));
    StartWrite(&part_);
  }

  server::Server& server_;
  std::unique_ptr<server::ArtifactStore::Content> content_;
  int64_t offset_ = 0;
  v1::DownloadArtifactResponse part_;
};

}  // namespace

absl::StatusOr<server::ArtifactKey> artifact_key(server::Server& server, const v1::ArtifactName& name) {
  server::ArtifactKey key{.name = name.name()};
  RETURN_IF_ERROR(server::check_artifact_name(key.name));
  if (name.execution_id().empty()) {
    ASSIGN_OR_RETURN(key.ns, namespace_of(name.namespace_()));
    return key;
  }
  ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(name.execution_id()));
  ASSIGN_OR_RETURN(const store::JobView job, server.lookups().job(execution.job));
  key.ns = job.head.ns.str();
  return key;
}

void to_proto(const server::ArtifactInfo& info, v1::StoredArtifact* out) {
  out->set_namespace_(info.key.ns);
  out->set_name(info.key.name);
  out->set_size(info.size);
  out->set_sha256(info.sha256);
  set_time(info.created, out->mutable_created_at());
  set_time(info.expires, out->mutable_expires_at());
}

grpc::ServerReadReactor<v1::UploadArtifactRequest>* start_upload(server::Server& server, v1::StoredArtifact* out) {
  return new UploadStream(server, out);
}

grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* start_download(server::Server& server,
                                                                       const v1::DownloadArtifactRequest& request) {
  return new DownloadStream(server, request);
}

}  // namespace hodei::api
