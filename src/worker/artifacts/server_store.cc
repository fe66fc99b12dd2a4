#include "src/worker/artifacts/server_store.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cerrno>

#include "hodei/v1/artifact_service.grpc.pb.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/artifacts/local_carry.h"
#include "src/worker/artifacts/retry.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr size_t kChunk = 256 << 10;
constexpr Duration kLongestTransfer = 6h;  // a dead connection is noticed in seconds, by the channel's keep-alive

// One call: with the worker's session, and ended when it is stopped.
struct Call {
  Call(const std::string& session_id, const std::stop_token& stop) : cancel(stop, [this] { context.TryCancel(); }) {
    context.AddMetadata("hodei-session", session_id);
    context.set_deadline(deadline_in(kLongestTransfer));
  }
  grpc::ClientContext context;
  std::stop_callback<std::function<void()>> cancel;
};

absl::Status to_absl(const grpc::Status& status, const std::stop_token& stop) {
  if (status.ok()) return absl::OkStatus();
  if (stop.stop_requested()) return absl::CancelledError("stopped");
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

v1::ArtifactName name_for(const std::string& name, ExecutionId execution) {
  v1::ArtifactName out;
  out.set_name(name);
  out.set_execution_id(to_string(execution));
  return out;
}

class StoreDownload {
 public:
  StoreDownload(int file, int64_t max_bytes) : file_(file), max_bytes_(max_bytes) {}

  int64_t received() const { return received_; }
  const std::string& sha256() const { return sha256_; }

  // Continues what an earlier attempt began, if the name still shows the same content.
  absl::Status attempt(v1::ArtifactService::Stub& stub, const v1::ArtifactName& name, const std::string& session_id,
                       const std::stop_token& stop) {
    Call call(session_id, stop);
    v1::DownloadArtifactRequest request;
    *request.mutable_artifact() = name;
    request.set_offset(received_);
    const auto reader = stub.Download(&call.context, request);
    v1::DownloadArtifactResponse part;
    absl::Status taken;
    while (taken.ok() && reader->Read(&part)) taken = take(part);
    if (!taken.ok()) call.context.TryCancel();
    const grpc::Status status = reader->Finish();
    if (!taken.ok()) return taken;
    return to_absl(status, stop);
  }

 private:
  absl::Status take(const v1::DownloadArtifactResponse& part) {
    if (part.has_artifact()) {
      const bool other = !sha256_.empty() && sha256_ != part.artifact().sha256();
      sha256_ = part.artifact().sha256();
      if (part.artifact().size() > max_bytes_) {
        return absl::ResourceExhaustedError(cat("is larger than the limit of ", max_bytes_, " bytes"));
      }
      if (other) {
        received_ = 0;
        return absl::UnavailableError("it was replaced during the transfer");
      }
    }
    for (std::string_view piece = part.chunk(); !piece.empty();) {
      const ssize_t wrote = pwrite(file_, piece.data(), piece.size(), received_);
      if (wrote <= 0) return errno_status(errno, "writing");
      received_ += wrote;
      piece.remove_prefix(static_cast<size_t>(wrote));
    }
    return absl::OkStatus();
  }

  const int file_;
  const int64_t max_bytes_;
  int64_t received_ = 0;
  std::string sha256_;
};

absl::Status upload(v1::ArtifactService::Stub& stub, int file, const v1::ArtifactName& name,
                    const std::string& session_id, const std::stop_token& stop) {
  Call call(session_id, stop);
  v1::StoredArtifact stored;
  const auto writer = stub.Upload(&call.context, &stored);
  v1::UploadArtifactRequest part;
  *part.mutable_header()->mutable_artifact() = name;
  absl::Status read;
  int64_t offset = 0;
  std::string chunk;
  while (writer->Write(part)) {
    chunk.resize(kChunk);
    const ssize_t got = pread(file, chunk.data(), chunk.size(), offset);
    if (got < 0) read = absl::ErrnoToStatus(errno, "reading");
    if (got <= 0) break;
    offset += got;
    chunk.resize(static_cast<size_t>(got));
    part.set_chunk(chunk);
  }
  if (read.ok()) {
    part.mutable_end()->set_size(offset);
    writer->Write(part);
    writer->WritesDone();
  } else {
    call.context.TryCancel();
  }
  const grpc::Status status = writer->Finish();
  return read.ok() ? to_absl(status, stop) : read;
}

}  // namespace

absl::Status ServerStore::fetch(const std::string& name, ExecutionId execution, int file, int64_t max_bytes,
                                const std::stop_token& stop) const {
  if (channel_ == nullptr) return absl::UnavailableError("there is no connection to the server");
  const auto stub = v1::ArtifactService::NewStub(channel_);
  const v1::ArtifactName which = name_for(name, execution);
  StoreDownload download(file, max_bytes);
  RETURN_IF_ERROR(with_retries(
      stop, [&] { return download.attempt(*stub, which, session_id_, stop); }, [&] { return download.received(); }));
  if (ftruncate(file, download.received()) != 0) return errno_status(errno, "truncating");
  ASSIGN_OR_RETURN(const std::string found, sha256_of(file));
  if (found == download.sha256()) return absl::OkStatus();
  return absl::DataLossError("it was damaged in transit: its sha256 does not match the server's");
}

absl::Status ServerStore::send(int file, const std::string& name, ExecutionId execution,
                               const std::stop_token& stop) const {
  if (channel_ == nullptr) return absl::UnavailableError("there is no connection to the server");
  const auto stub = v1::ArtifactService::NewStub(channel_);
  const v1::ArtifactName which = name_for(name, execution);
  return with_retries(
      stop, [&] { return upload(*stub, file, which, session_id_, stop); }, [] { return 0; }, kServerStoreAttempts);
}

}  // namespace hodei::worker
