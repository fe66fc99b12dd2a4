// Download: one piece at a time, the next when the last was sent, so that size costs no memory.
#include <mutex>
#include <optional>

#include "src/api/calls/artifacts/artifact_access.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kSentChunk = 256 << 10;

class DownloadSource final : public Source<v1::DownloadArtifactResponse> {
 public:
  DownloadSource(const ArtifactPorts& p, const Call& call, v1::DownloadArtifactRequest request)
      : ports_(p), call_(call), request_(std::move(request)), found_(std::make_shared<Found>()) {}

  void start(std::function<void()> wake) override {
    find_caller(ports_, call_, [found = found_, wake = std::move(wake)](absl::StatusOr<ArtifactCaller> caller) {
      {
        const std::lock_guard lock(found->mutex);
        found->caller = std::move(caller);
      }
      wake();
    });
  }

  Next next(v1::DownloadArtifactResponse& out) override {
    if (content_ == nullptr) {
      std::optional<absl::StatusOr<ArtifactCaller>> caller;
      {
        const std::lock_guard lock(found_->mutex);
        caller = found_->caller;
      }
      if (!caller) return Next::Wait;
      status_ = caller->ok() ? open(**caller) : caller->status();
      if (!status_.ok()) return Next::End;
      out.Clear();
      to_proto(content_->info(), out.mutable_artifact());
    } else {
      out.clear_artifact();
    }
    return read_piece(out);
  }

  absl::Status status() const override { return status_; }
  bool reads_files() const override { return true; }

 private:
  struct Found {
    std::mutex mutex;
    std::optional<absl::StatusOr<ArtifactCaller>> caller;  // guarded by the mutex; nothing: not known yet
  };

  absl::Status open(const ArtifactCaller& caller) {
    ASSIGN_OR_RETURN(const server::ArtifactKey key,
                     allowed_key(ports_, caller, ArtifactUse::Fetch, request_.artifact()));
    ASSIGN_OR_RETURN(std::unique_ptr<server::ArtifactStore::Content> content, ports_.artifacts.content(key));
    offset_ = request_.offset();
    if (offset_ < 0 || offset_ > content->info().size) {
      return bad_field("offset", "must be between 0 and the size, ", content->info().size);
    }
    content_ = std::move(content);
    return absl::OkStatus();
  }

  // An empty piece comes only with the description of an empty rest.
  Next read_piece(v1::DownloadArtifactResponse& out) {
    absl::StatusOr<std::string> chunk = content_->read(offset_, kSentChunk);
    status_ = chunk.status();
    if (!chunk.ok() || (chunk->empty() && !out.has_artifact())) return Next::End;
    offset_ += static_cast<int64_t>(chunk->size());
    out.set_chunk(std::move(*chunk));
    return Next::Message;
  }

  const ArtifactPorts& ports_;
  const Call call_;
  const v1::DownloadArtifactRequest request_;
  const std::shared_ptr<Found> found_;
  std::unique_ptr<server::ArtifactStore::Content> content_;
  int64_t offset_ = 0;
  absl::Status status_;
};

}  // namespace

SourceOr<v1::DownloadArtifactResponse> download_artifact(const ArtifactPorts& p, const Call& call,
                                                         const v1::DownloadArtifactRequest& in) {
  return std::make_shared<DownloadSource>(p, call, in);
}

}  // namespace hodei::api
