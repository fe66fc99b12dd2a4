#include "src/api/grpc/upload_stream.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "src/api/calls/artifacts/artifact_access.h"
#include "src/api/grpc/status.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxChunk = 1 << 20;

class UploadStream;

// The one end of a call, which the call itself, the answer about its session and a server that stops may all want to
// be.
struct UploadEnding {
  std::mutex mutex;
  UploadStream* stream = nullptr;  // null: the call is ended
  uint64_t open_call = 0;
  bool working = false;                // in the pool: the call lives until that is over
  std::optional<absl::Status> wanted;  // the end that came up meanwhile

  void end(const absl::Status& status);
};

class UploadStream final : public grpc::ServerReadReactor<v1::UploadArtifactRequest> {
 public:
  UploadStream(const ArtifactPorts& ports, const Call& call, v1::StoredArtifact* out)
      : ports_(ports), out_(out), ending_(std::make_shared<UploadEnding>()) {
    ending_->stream = this;
    ending_->open_call = ports_.open_calls.add([ending = ending_](const absl::Status& why) { ending->end(why); });
    find_caller(ports_, call, [ending = ending_](absl::StatusOr<ArtifactCaller> caller) {
      if (!caller.ok()) return ending->end(caller.status());
      const std::lock_guard lock(ending->mutex);
      if (ending->stream == nullptr) return;
      ending->stream->caller_ = *std::move(caller);
      ending->stream->StartRead(&ending->stream->part_);
    });
  }

  void OnReadDone(bool ok) override {
    if (!ok) return ending_->end(absl::AbortedError("the upload ended before it was complete"));
    {
      const std::lock_guard lock(ending_->mutex);
      if (ending_->stream == nullptr) return;
      ending_->working = true;
    }
    // Files are for threads that may wait for a disk.
    ports_.files.pool.post_always([this, ending = ending_] {
      take_part();
      const std::lock_guard lock(ending->mutex);
      ending->working = false;
      if (!ending->wanted) return StartRead(&part_);
      std::exchange(ending->stream, nullptr)->Finish(to_grpc(*ending->wanted));
    });
  }
  void OnCancel() override { ending_->end(absl::CancelledError("the client has disconnected")); }
  void OnDone() override {
    ports_.open_calls.remove(ending_->open_call);
    delete this;
  }

 private:
  void take_part() {
    if (part_.has_end()) return ending_->end(finish_upload());
    if (const absl::Status taken = take(); !taken.ok()) ending_->end(taken);
  }

  absl::Status take() {
    if (part_.has_header()) {
      if (upload_ != nullptr) return bad_field("header", "may only be in the first message");
      // A person is told at once; what a job sends is refused piece by piece with UNAVAILABLE, and its worker tries
      // again.
      if (part_.header().artifact().execution_id().empty()) RETURN_IF_ERROR(ports_.check_room());
      ASSIGN_OR_RETURN(const server::ArtifactKey key,
                       allowed_key(ports_, caller_, ArtifactUse::Store, part_.header().artifact()));
      ASSIGN_OR_RETURN(upload_, ports_.artifacts.begin(key, std::chrono::milliseconds(part_.header().expires_in_ms())));
      return absl::OkStatus();
    }
    if (upload_ == nullptr) return bad_field("header", "must be in the first message");
    if (part_.chunk().size() > kMaxChunk) return bad_field("chunk", "must have at most ", kMaxChunk, " bytes");
    return upload_->append(part_.chunk());
  }

  absl::Status finish_upload() {
    if (upload_ == nullptr) return bad_field("header", "must be in the first message");
    if (part_.end().size() != upload_->size()) {
      return bad_field("end.size", "is ", part_.end().size(), ", but ", upload_->size(), " bytes were received");
    }
    ASSIGN_OR_RETURN(const server::ArtifactInfo info, upload_->finish());
    to_proto(info, out_);
    return absl::OkStatus();
  }

  const ArtifactPorts& ports_;
  v1::StoredArtifact* out_;
  ArtifactCaller caller_;
  v1::UploadArtifactRequest part_;
  std::unique_ptr<server::ArtifactStore::Upload> upload_;
  const std::shared_ptr<UploadEnding> ending_;
};

void UploadEnding::end(const absl::Status& status) {
  const std::lock_guard lock(mutex);
  if (stream == nullptr) return;
  if (!working) {
    std::exchange(stream, nullptr)->Finish(to_grpc(status));
  } else if (!wanted) {
    wanted = status;
  }
}

}  // namespace

grpc::ServerReadReactor<v1::UploadArtifactRequest>* start_upload(const ArtifactPorts& ports, const Call& call,
                                                                 v1::StoredArtifact* out) {
  return new UploadStream(ports, call, out);
}

}  // namespace hodei::api
