// The client of the server that all commands use. It handles deadlines, retries and several addresses; gRPC is used
// only in client.cc. Calls that several nouns use are methods here. A noun makes its own calls by name, so it needs no
// change here.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hodei/v1/admin_service.pb.h"
#include "hodei/v1/job_service.pb.h"
#include "hodei/v1/log_service.pb.h"
#include "hodei/v1/metrics_service.pb.h"
#include "hodei/v1/provider_service.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/base/time.h"
#include "src/cli/text/address.h"

namespace hodei::cli {

struct ClientOptions {
  std::vector<Address> servers;  // tried in order
  std::string token;
  std::string correlation_id;  // sent with every call when given
  std::string traceparent;     // likewise: jobs join the trace of the program that started us
  Duration request_timeout = 30s;
  Duration retry_for = 3s;  // total time for a call that finds no server
  const Clock* clock = nullptr;
  std::function<bool(Duration)> pause;
};

// How long a subscription may live before it is renewed from where it stands: a connection that died without a word
// is noticed at the latest then.
inline constexpr Duration kStreamLife = std::chrono::minutes(5);

// Grows from one try to the next, with jitter so that many clients do not come back at the same moment.
class BackOff {
 public:
  Duration next();
  void reset() { step_ = 0; }

 private:
  int step_ = 0;
};

// Whether a call whose answer was lost may be sent again.
enum class Retry { Safe, Never };

// Safe to use from two threads.
class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();

  // Any call with one answer, by its name: client.call<v1::Limit>("/hodei.v1.SchedulerService/SetLimit", request).
  template <class Response>
  absl::StatusOr<Response> call(const char* method, const google::protobuf::Message& request,
                                Retry retry = Retry::Safe) {
    Response response;
    absl::Status status = call(method, request, response, retry);
    if (!status.ok()) return status;
    return response;
  }
  absl::Status call(const char* method, const google::protobuf::Message& request, google::protobuf::Message& response,
                    Retry retry);

  absl::StatusOr<v1::QueueJobResponse> queue_job(const v1::QueueJobRequest& request);  // needs an idempotency key
  absl::StatusOr<v1::QueueJobBatchResponse> queue_batch(const v1::QueueJobBatchRequest& request);  // likewise
  absl::StatusOr<v1::Job> get_job(const std::string& id);
  absl::StatusOr<v1::Job> get_job(const v1::GetJobRequest& request);
  absl::StatusOr<v1::DeleteJobsResponse> delete_jobs(const v1::DeleteJobsRequest& request);
  absl::StatusOr<v1::ListJobsResponse> list_jobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::CancelJobResponse> cancel_job(const v1::CancelJobRequest& request);
  absl::StatusOr<v1::QueueJobResponse> retry_job(const v1::RetryJobRequest& request);
  absl::StatusOr<v1::Template> put_template(const v1::PutTemplateRequest& request);
  absl::StatusOr<v1::Template> get_template(const v1::GetTemplateRequest& request);
  absl::StatusOr<v1::ListTemplatesResponse> list_templates(const v1::ListTemplatesRequest& request);
  absl::Status delete_template(const v1::DeleteTemplateRequest& request);

  absl::StatusOr<v1::SchedulingDecision> scheduling_decision(const std::string& job_id);
  absl::StatusOr<v1::ScheduleJobResponse> schedule_job(const v1::ScheduleJobRequest& request);  // a dry run only
  absl::StatusOr<v1::SchedulerConfig> configure_scheduler(const v1::ConfigureSchedulerRequest& request);
  absl::StatusOr<v1::QueueStatus> queue_status();

  absl::StatusOr<v1::ListWorkersResponse> list_workers(const v1::ListWorkersRequest& request);
  absl::StatusOr<v1::Worker> get_worker(const std::string& id);
  absl::StatusOr<v1::DrainWorkerResponse> drain_worker(const v1::DrainWorkerRequest& request);
  absl::StatusOr<v1::Worker> undrain_worker(const v1::UndrainWorkerRequest& request);
  absl::StatusOr<v1::Worker> taint_worker(const v1::TaintWorkerRequest& request);
  absl::Status remove_worker(const v1::RemoveWorkerRequest& request);
  absl::StatusOr<v1::CreateOtpResponse> create_otp(const v1::CreateOtpRequest& request);

  absl::StatusOr<v1::Provider> register_provider(const v1::RegisterProviderRequest& request);
  absl::StatusOr<v1::Provider> update_provider(const v1::UpdateProviderRequest& request);
  absl::Status remove_provider(const std::string& name);
  absl::StatusOr<v1::ListProvidersResponse> list_providers();
  absl::StatusOr<v1::Provider> get_provider(const std::string& name);
  absl::StatusOr<v1::ProviderHealth> provider_health(const std::string& name);
  absl::StatusOr<v1::GetWorkerLogsResponse> worker_logs(const v1::GetWorkerLogsRequest& request);
  absl::StatusOr<v1::Pool> set_pool(const v1::Pool& pool);
  absl::Status remove_pool(const std::string& name);
  absl::StatusOr<v1::ListPoolsResponse> list_pools();

  absl::StatusOr<v1::SystemStatus> system_status();
  absl::StatusOr<v1::StoredSecret> put_secret(const v1::PutSecretRequest& request);
  absl::StatusOr<v1::ListSecretsResponse> list_secrets(const v1::ListSecretsRequest& request);
  absl::Status delete_secret(const v1::DeleteSecretRequest& request);
  absl::StatusOr<v1::ListAuditResponse> list_audit(const v1::ListAuditRequest& request);

  // Calls `take` with what comes until the server closes the stream (OK), the stream breaks (its error), or `take`
  // answers false (OK). Does not retry: only the caller knows where to resume.
  absl::Status subscribe_logs(const v1::SubscribeLogsRequest& request, std::function<bool(const v1::LogChunk&)> take);
  absl::Status follow_events(const v1::ExecutionEventStreamRequest& request,
                             std::function<bool(const v1::ExecutionEvent&)> take, std::stop_token stop = {},
                             Duration life = kStreamLife);

  absl::Status stream_metrics(const v1::StreamMetricsRequest& request,
                              std::function<bool(const v1::MetricSample&)> take, std::stop_token stop);

  // A stream that broke with this may be opened again from where it stood.
  static bool is_break(const absl::Status& status);

  // The error of a stream that is not resumed, with a message that says what to do. (Other calls do this by
  // themselves.)
  absl::Status explain(const absl::Status& status) const;

  // Every address, for messages.
  std::string addresses() const;

 private:
  struct Wire;
  std::unique_ptr<Wire> wire_;
};

}  // namespace hodei::cli
