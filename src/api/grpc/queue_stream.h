// QueueJobs: a stream of submissions. Requests are taken while earlier ones are being committed, so one stream keeps
// the loop's batches full; each answer carries its request's sequence.
#pragma once

#include <memory>

#include "grpcpp/support/server_callback.h"
#include "src/api/calls/envelope.h"
#include "src/api/calls/jobs/job_calls.h"

namespace hodei::api {

class QueueStream final : public grpc::ServerBidiReactor<v1::QueueJobRequest, v1::QueueJobResponse> {
 public:
  // Submissions of one stream that wait for their commit; reading pauses beyond that.
  static constexpr size_t kMaxInFlight = 4'096;

  QueueStream(const JobPorts& ports, CallFacts facts);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Outlives the reactor: replies of the loop find it, and whether anybody still listens.
  struct Answers;
  void take_request();

  const JobPorts& ports_;
  const CallFacts facts_;  // each request has an envelope of its own
  v1::QueueJobRequest request_;
  std::shared_ptr<Answers> answers_;
};

}  // namespace hodei::api
