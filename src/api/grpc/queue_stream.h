// QueueJobs: a stream of submissions. Requests are taken while earlier ones are being committed, so one stream keeps
// the loop's batches full; each answer carries its request's sequence.
#pragma once

#include <functional>

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/job_service.pb.h"
#include "src/server/server.h"

namespace hodei::api {

class QueueStream final : public grpc::ServerBidiReactor<v1::QueueJobRequest, v1::QueueJobResponse> {
 public:
  // Submissions of one stream that wait for their commit; reading pauses beyond that.
  static constexpr size_t kMaxInFlight = 4'096;
  // With a note for the submitter; see QueueJobResponse.
  using Prepare = std::function<absl::StatusOr<core::Submit>(const v1::QueueJobRequest&, std::string* note)>;

  QueueStream(server::Server& server, Prepare prepare);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Outlives the reactor: replies of the loop find it, and whether anybody still listens.
  struct Answers;
  void take_request();

  server::Server& server_;
  Prepare prepare_;
  v1::QueueJobRequest request_;
  std::shared_ptr<Answers> answers_;
};

}  // namespace hodei::api
