#include "src/api/grpc/artifact_streams.h"

#include <optional>

#include <memory>
#include <mutex>

#include "src/api/grpc/artifact_access.h"
#include "src/api/grpc/session_call.h"
#include "src/api/grpc/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxChunk = 1 << 20;
constexpr size_t kSentChunk = 256 << 10;

// The one end of a call, which the call itself, the answer about its session and a server that stops may all want to
// be.
template <class Reactor>
struct Ending {
  std::mutex mutex;
  Reactor* reactor = nullptr;  // null: the call is ended
  uint64_t open_call = 0;
  bool working = false;                // in the pool: the call lives until that is over
  std::optional<absl::Status> wanted;  // the end that came up meanwhile

  void end(const absl::Status& status) {
    const std::lock_guard lock(mutex);
    if (reactor == nullptr) return;
    if (!working) {
      std::exchange(reactor, nullptr)->Finish(to_grpc(status));
    } else if (!wanted) {
      wanted = status;
    }
  }
};

// Files are for threads that may wait for a disk. `work` ends the call, or `next` goes on with it.
template <class Reactor, class Work, class Next>
void work_in_pool(server::Server& server, const std::shared_ptr<Ending<Reactor>>& ending, Work work, Next next) {
  {
    const std::lock_guard lock(ending->mutex);
    if (ending->reactor == nullptr) return;
    ending->working = true;
  }
  server.files().post_always([ending, work, next] {
    work();
    const std::lock_guard lock(ending->mutex);
    ending->working = false;
    if (ending->wanted) {
      std::exchange(ending->reactor, nullptr)->Finish(to_grpc(*ending->wanted));
    } else {
      next();
    }
  });
}

// Ends the call when the server stops. Then, with the worker whose session came with the call (empty: none did), goes
// on in `begin`, which must not block: the session is found by the loop.
template <class Reactor>
std::shared_ptr<Ending<Reactor>> watch_call(server::Server& server, Reactor* reactor) {
  auto ending = std::make_shared<Ending<Reactor>>();
  ending->reactor = reactor;
  ending->open_call = server.open_calls().add([ending](const absl::Status& why) { ending->end(why); });
  return ending;
}

template <class Reactor, class Begin>
void find_caller(server::Server& server, const grpc::CallbackServerContext& context,
                 const std::shared_ptr<Ending<Reactor>>& ending, Begin begin) {
  const auto go_on = [ending, begin](absl::StatusOr<WorkerId> worker) {
    if (!worker.ok()) return ending->end(worker.status());
    const std::lock_guard lock(ending->mutex);
    if (ending->reactor != nullptr) begin(*ending->reactor, *std::move(worker));
  };
  if (const std::optional<Hash128> session = session_in(context)) {
    find_worker(server, *session, go_on);
  } else {
    go_on(WorkerId());
  }
}

class UploadStream final : public grpc::ServerReadReactor<v1::UploadArtifactRequest> {
 public:
  UploadStream(server::Server& server, const grpc::CallbackServerContext& context, Callers callers,
               v1::StoredArtifact* out)
      : server_(server), out_(out), caller_{.worker = {}, .callers = callers}, ending_(watch_call(server, this)) {
    find_caller(server, context, ending_, [](UploadStream& self, WorkerId worker) {
      self.caller_.worker = std::move(worker);
      self.StartRead(&self.part_);
    });
  }

  void OnReadDone(bool ok) override {
    if (!ok) return ending_->end(absl::AbortedError("the upload ended before it was complete"));
    work_in_pool(
        server_, ending_, [this] { take_part(); }, [this] { StartRead(&part_); });
  }
  void OnCancel() override { ending_->end(absl::CancelledError("the client has disconnected")); }
  void OnDone() override {
    server_.open_calls().remove(ending_->open_call);
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
      if (part_.header().artifact().execution_id().empty()) RETURN_IF_ERROR(server_.check_room());
      ASSIGN_OR_RETURN(const server::ArtifactKey key,
                       allowed_key(server_, caller_, ArtifactUse::Store, part_.header().artifact()));
      ASSIGN_OR_RETURN(upload_,
                       server_.artifacts().begin(key, std::chrono::milliseconds(part_.header().expires_in_ms())));
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

  server::Server& server_;
  v1::StoredArtifact* out_;
  ArtifactCaller caller_;
  v1::UploadArtifactRequest part_;
  std::unique_ptr<server::ArtifactStore::Upload> upload_;
  const std::shared_ptr<Ending<UploadStream>> ending_;
};

class DownloadStream final : public grpc::ServerWriteReactor<v1::DownloadArtifactResponse> {
 public:
  DownloadStream(server::Server& server, const grpc::CallbackServerContext& context, Callers callers,
                 const v1::DownloadArtifactRequest& request)
      : server_(server),
        request_(request),
        caller_{.worker = {}, .callers = callers},
        ending_(watch_call(server, this)) {
    // The caller is found by the loop, whose thread must not open files: that comes when the metadata are sent.
    find_caller(server, context, ending_, [](DownloadStream& self, WorkerId worker) {
      self.caller_.worker = std::move(worker);
      self.StartSendInitialMetadata();
    });
  }

  void OnSendInitialMetadataDone(bool ok) override {
    if (!ok) return ending_->end(absl::CancelledError("the client has disconnected"));
    work_in_pool(
        server_, ending_, [this] { open_and_read(); }, [this] { StartWrite(&part_); });
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return ending_->end(absl::CancelledError("the client has disconnected"));
    part_.clear_artifact();
    work_in_pool(
        server_, ending_, [this] { read_next(); }, [this] { StartWrite(&part_); });
  }
  void OnCancel() override { ending_->end(absl::CancelledError("the client has disconnected")); }
  void OnDone() override {
    server_.open_calls().remove(ending_->open_call);
    delete this;
  }

 private:
  absl::Status open() {
    ASSIGN_OR_RETURN(const server::ArtifactKey key,
                     allowed_key(server_, caller_, ArtifactUse::Fetch, request_.artifact()));
    ASSIGN_OR_RETURN(content_, server_.artifacts().content(key));
    offset_ = request_.offset();
    if (offset_ >= 0 && offset_ <= content_->info().size) return absl::OkStatus();
    return bad_field("offset", "must be between 0 and the size, ", content_->info().size);
  }

  void open_and_read() {
    if (const absl::Status opened = open(); !opened.ok()) return ending_->end(opened);
    to_proto(content_->info(), part_.mutable_artifact());
    read_next();
  }

  void read_next() {
    absl::StatusOr<std::string> chunk = content_->read(offset_, kSentChunk);
    if (!chunk.ok()) return ending_->end(chunk.status());
    if (chunk->empty() && !part_.has_artifact()) return ending_->end(absl::OkStatus());
    offset_ += static_cast<int64_t>(chunk->size());
    part_.set_chunk(std::move(*chunk));
  }

  server::Server& server_;
  const v1::DownloadArtifactRequest request_;
  ArtifactCaller caller_;
  std::unique_ptr<server::ArtifactStore::Content> content_;
  int64_t offset_ = 0;
  v1::DownloadArtifactResponse part_;
  const std::shared_ptr<Ending<DownloadStream>> ending_;
};

}  // namespace

void to_proto(const server::ArtifactInfo& info, v1::StoredArtifact* out) {
  out->set_namespace_(info.key.ns);
  out->set_name(info.key.name);
  out->set_size(info.size);
  out->set_sha256(info.sha256);
  set_time(info.created, out->mutable_created_at());
  set_time(info.expires, out->mutable_expires_at());
}

grpc::ServerReadReactor<v1::UploadArtifactRequest>* start_upload(server::Server& server,
                                                                 const grpc::CallbackServerContext& context,
                                                                 Callers callers, v1::StoredArtifact* out) {
  return new UploadStream(server, context, callers, out);
}

grpc::ServerWriteReactor<v1::DownloadArtifactResponse>* start_download(server::Server& server,
                                                                       const grpc::CallbackServerContext& context,
                                                                       Callers callers,
                                                                       const v1::DownloadArtifactRequest& request) {
  return new DownloadStream(server, context, callers, request);
}

}  // namespace hodei::api
