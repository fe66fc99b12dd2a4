#include "src/cli/artifact/artifact_client.h"

#include <grpcpp/grpcpp.h>

#include "hodei/v1/artifact_service.grpc.pb.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::cli {
namespace {

constexpr Duration kLongestTransfer = 6h;

absl::Status as_absl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace

struct ArtifactClient::Wire {
  explicit Wire(Session& s) : session(s) {}

  // The first server that takes a connection.
  absl::Status connect() {
    if (stub != nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<Address> servers, parse_addresses(session.settings.text("server")));
    for (const Address& server : servers) {
      grpc::ChannelArguments args;
      if (is_loopback(server)) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
      const auto channel = grpc::CreateCustomChannel(to_string(server), grpc::InsecureChannelCredentials(), args);
      if (!channel->WaitForConnected(deadline_in(session.settings.duration("retry_for")))) continue;
      stub = v1::ArtifactService::NewStub(channel);
      return absl::OkStatus();
    }
    return session.client().explain(absl::UnavailableError("failed to connect"));
  }

  void prepare(grpc::ClientContext& context, Duration deadline) const {
    context.set_deadline(deadline_in(deadline));
    if (!session.correlation_id.empty()) context.AddMetadata("hodei-correlation-id", session.correlation_id);
    const std::string token = session.settings.text("token");
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }

  absl::Status explain(const grpc::Status& status) const {
    return status.ok() ? absl::OkStatus() : session.client().explain(as_absl(status));
  }

  Session& session;
  std::unique_ptr<v1::ArtifactService::Stub> stub;
};

ArtifactClient::ArtifactClient(Session& session) : session_(session), wire_(std::make_unique<Wire>(session)) {}
ArtifactClient::~ArtifactClient() = default;

absl::StatusOr<v1::StoredArtifact> ArtifactClient::upload(const v1::UploadArtifactRequest::Header& header,
                                                          const std::function<absl::StatusOr<std::string>()>& next) {
  RETURN_IF_ERROR(wire_->connect());
  grpc::ClientContext context;
  wire_->prepare(context, kLongestTransfer);
  v1::StoredArtifact stored;
  const auto writer = wire_->stub->Upload(&context, &stored);
  v1::UploadArtifactRequest part;
  *part.mutable_header() = header;
  int64_t size = 0;
  // A write that fails has its reason in the status.
  while (writer->Write(part) && !part.has_end()) {
    absl::StatusOr<std::string> piece = next();
    if (!piece.ok()) {
      context.TryCancel();
      writer->Finish();
      return piece.status();
    }
    size += static_cast<int64_t>(piece->size());
    if (piece->empty()) {
      part.mutable_end()->set_size(size);
    } else {
      part.set_chunk(std::move(*piece));
    }
  }
  writer->WritesDone();
  RETURN_IF_ERROR(wire_->explain(writer->Finish()));
  return stored;
}

absl::Status ArtifactClient::download(const v1::DownloadArtifactRequest& request,
                                      const std::function<bool(const v1::DownloadArtifactResponse&)>& take) {
  RETURN_IF_ERROR(wire_->connect());
  grpc::ClientContext context;
  wire_->prepare(context, kLongestTransfer);
  const auto reader = wire_->stub->Download(&context, request);
  v1::DownloadArtifactResponse part;
  while (reader->Read(&part)) {
    if (take(part)) continue;
    context.TryCancel();
    reader->Finish();
    return absl::OkStatus();
  }
  return as_absl(reader->Finish());
}

absl::StatusOr<v1::ListArtifactsResponse> ArtifactClient::list(const v1::ListArtifactsRequest& request) {
  RETURN_IF_ERROR(wire_->connect());
  grpc::ClientContext context;
  wire_->prepare(context, session_.settings.duration("request_timeout"));
  v1::ListArtifactsResponse response;
  RETURN_IF_ERROR(wire_->explain(wire_->stub->List(&context, request, &response)));
  return response;
}

absl::Status ArtifactClient::remove(const v1::DeleteArtifactRequest& request) {
  RETURN_IF_ERROR(wire_->connect());
  grpc::ClientContext context;
  wire_->prepare(context, session_.settings.duration("request_timeout"));
  v1::DeleteArtifactResponse response;
  return wire_->explain(wire_->stub->Delete(&context, request, &response));
}

}  // namespace hodei::cli
