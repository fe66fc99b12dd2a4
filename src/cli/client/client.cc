#include "src/cli/client/client.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>

#include <atomic>
#include <mutex>
#include <random>

#include "hodei/v1/admin_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "hodei/v1/log_service.grpc.pb.h"
#include "hodei/v1/metrics_service.grpc.pb.h"
#include "hodei/v1/provider_service.grpc.pb.h"
#include "hodei/v1/scheduler_service.grpc.pb.h"
#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/base/hash.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/cli/terminal/surroundings.h"

namespace hodei::cli {
namespace {

constexpr int kLargestMessage = 64 << 20;
constexpr int kStreamWindow = 4 << 20;
constexpr Duration kFirstWait = 100ms;
constexpr Duration kLongestWait = 2s;
constexpr Duration kLongestCancelWait = std::chrono::hours(1);

// Everything that is reached over one channel.
struct Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& to)
      : channel(to),
        jobs(v1::JobExecutionService::NewStub(to)),
        logs(v1::LogStreamService::NewStub(to)),
        scheduler(v1::SchedulerService::NewStub(to)),
        workers(v1::WorkerAgentService::NewStub(to)),
        admin(v1::AdminService::NewStub(to)),
        metrics(v1::MetricsService::NewStub(to)),
        providers(v1::ProviderManagementService::NewStub(to)) {}

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::JobExecutionService::Stub> jobs;
  std::unique_ptr<v1::LogStreamService::Stub> logs;
  std::unique_ptr<v1::SchedulerService::Stub> scheduler;
  std::unique_ptr<v1::WorkerAgentService::Stub> workers;
  std::unique_ptr<v1::AdminService::Stub> admin;
  std::unique_ptr<v1::MetricsService::Stub> metrics;
  std::unique_ptr<v1::ProviderManagementService::Stub> providers;
};

std::unique_ptr<Stubs> connect(const Address& address) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(kLargestMessage);
  args.SetMaxSendMessageSize(kLargestMessage);
  args.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // a ping for nearly every message
  args.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindow);
  // A restarted server is found again quickly.
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // in spite of its name, the time to connect in
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // After a break the name is looked up again first, which is done every 30 s at most unless told otherwise.
  args.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 500);
  if (is_loopback(address)) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return std::make_unique<Stubs>(
      grpc::CreateCustomChannel(to_string(address), grpc::InsecureChannelCredentials(), args));
}

absl::Status absl_status_of(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

std::string reason_of(std::string message) {
  // gRPC wraps the cause: "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Connection
  // refused".
  if (const size_t at = message.rfind(": "); at != std::string::npos && message.find("connect") != std::string::npos) {
    message.erase(0, at + 2);
  }
  return message;
}

}  // namespace

Duration BackOff::next() {
  thread_local std::minstd_rand random{std::random_device{}()};
  const Duration whole = std::min<Duration>(kFirstWait * (int64_t{1} << std::min(step_, 10)), kLongestWait);
  ++step_;
  return whole / 2 + Duration(std::uniform_int_distribution<int64_t>(0, whole.count() / 2)(random));
}

struct Client::Wire {
  explicit Wire(ClientOptions o) : options(std::move(o)) {
    for (const Address& address : options.servers) servers.push_back(connect(address));
  }

  void prepare(grpc::ClientContext& context, Duration deadline, const std::string& request_id) const {
    context.set_deadline(deadline_in(deadline));
    context.AddMetadata("hodei-request-id", request_id);
    if (!options.correlation_id.empty()) context.AddMetadata("hodei-correlation-id", options.correlation_id);
    if (!options.traceparent.empty()) context.AddMetadata("traceparent", options.traceparent);
    if (!options.token.empty()) context.AddMetadata("authorization", "Bearer " + options.token);
  }

  // The address that answered last is asked first; one that does not answer hands over to the next.
  Stubs& current() { return *servers[at.load() % servers.size()]; }
  void move_on() { at.fetch_add(1); }

  std::string addresses() const {
    std::string names;
    for (const Address& address : options.servers) names += (names.empty() ? "" : ", ") + to_string(address);
    return names;
  }

  // The same error, with a message that says what to do.
  absl::Status explain(const absl::Status& status) const {
    const std::string message(status.message());
    const std::string names = addresses();
    if (absl::IsUnavailable(status)) {
      const bool no_answer = message.find("connect") != std::string::npos || message.find("DNS") != std::string::npos ||
                             message.find("Socket closed") != std::string::npos || message.empty();
      if (!no_answer) return status;
      return absl::UnavailableError(cat("no server answers at ", names, " (", reason_of(message),
                                        ")\nstart one with `hodei dev`, or set --server or HODEI_SERVER"));
    }
    if (absl::IsDeadlineExceeded(status)) {
      return absl::DeadlineExceededError(cat(
          "the server at ", names, " did not answer in time\ncheck its log, or wait longer with --request-timeout"));
    }
    if (status.code() == absl::StatusCode::kUnimplemented) {
      return absl::UnimplementedError(cat("the server at ", names, " does not support this call\n",
                                          "it may be a different version; check it with `hodei status`"));
    }
    if (absl::IsResourceExhausted(status) && message.find("larger than max") != std::string::npos) {
      return absl::ResourceExhaustedError(cat("the request is too large for the server (", message,
                                              ")\npass large data to the job as an artifact, not in its spec"));
    }
    if (absl::IsUnauthenticated(status))
      return absl::UnauthenticatedError(cat(message, "\nset --token or HODEI_TOKEN"));
    return status;
  }

  // Sends a request to one server after the other, and again, until one answers.
  absl::Status send(const std::function<grpc::Status(Stubs&, grpc::ClientContext&)>& once, Retry retry,
                    Duration deadline) {
    const std::string request_id = random_id();
    const MonoTime give_up = options.clock->now().mono + options.retry_for;
    BackOff back_off;
    for (size_t tries = 1;; ++tries) {
      grpc::ClientContext context;
      prepare(context, deadline, request_id);
      const absl::Status status = absl_status_of(once(current(), context));
      if (status.ok()) return status;
      if (!absl::IsUnavailable(status)) return explain(status);
      move_on();
      // A request that never reached a server may be sent to the next one, whatever it is.
      const bool unsent = status.message().find("failed to connect") != absl::string_view::npos;
      if (retry == Retry::Never && !unsent) return explain(status);
      if (tries % servers.size() != 0) continue;
      const Duration left = give_up - options.clock->now().mono;
      if (left <= Duration(0) || !options.pause(std::min(back_off.next(), left))) return explain(status);
    }
  }

  template <class Stub, class Request, class Response>
  absl::StatusOr<Response> call(std::unique_ptr<Stub> Stubs::*service,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, Retry retry, Duration deadline) {
    Response response;
    const auto once = [&](Stubs& stubs, grpc::ClientContext& context) {
      response.Clear();
      return ((stubs.*service).get()->*method)(&context, request, &response);
    };
    RETURN_IF_ERROR(send(once, retry, deadline));
    return response;
  }

  template <class Stub, class Request, class Response>
  absl::StatusOr<Response> call(std::unique_ptr<Stub> Stubs::*service,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, Retry retry = Retry::Safe) {
    return call(service, method, request, retry, options.request_timeout);
  }

  template <class Stub, class Request, class Item>
  absl::Status stream(std::unique_ptr<Stub> Stubs::*service,
                      std::unique_ptr<grpc::ClientReader<Item>> (Stub::*method)(grpc::ClientContext*, const Request&),
                      const Request& request, const std::function<bool(const Item&)>& take, std::stop_token stop = {},
                      Duration life = kStreamLife) {
    grpc::ClientContext context;
    const std::stop_callback on_stop(stop, [&context] { context.TryCancel(); });
    prepare(context, life, random_id());
    const std::unique_ptr<grpc::ClientReader<Item>> reader = ((current().*service).get()->*method)(&context, request);
    Item item;
    while (reader->Read(&item)) {
      if (take(item)) continue;
      context.TryCancel();
      reader->Finish();
      return absl::OkStatus();
    }
    const absl::Status status = absl_status_of(reader->Finish());
    if (absl::IsUnavailable(status)) move_on();
    return is_break(status) ? status : explain(status);
  }

  ClientOptions options;
  std::vector<std::unique_ptr<Stubs>> servers;
  std::atomic<size_t> at{0};
};

Client::Client(ClientOptions options) : wire_(std::make_unique<Wire>(std::move(options))) {}
Client::~Client() = default;

bool Client::is_break(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsAborted(status) ||
         absl::IsCancelled(status);
}

std::string Client::addresses() const { return wire_->addresses(); }

absl::Status Client::explain(const absl::Status& status) const { return wire_->explain(status); }

using Jobs = v1::JobExecutionService::Stub;
using Scheduler = v1::SchedulerService::Stub;
using Workers = v1::WorkerAgentService::Stub;
using Admin = v1::AdminService::Stub;
using Providers = v1::ProviderManagementService::Stub;

template <class Request>
static Request named(const std::string& name) {
  Request request;
  request.set_name(name);
  return request;
}

absl::Status Client::call(const char* method, const google::protobuf::Message& request,
                          google::protobuf::Message& response, Retry retry) {
  const auto once = [&](Stubs& stubs, grpc::ClientContext& context) {
    response.Clear();
    const grpc::internal::RpcMethod rpc(method, grpc::internal::RpcMethod::NORMAL_RPC);
    return grpc::internal::BlockingUnaryCall<grpc::protobuf::MessageLite, grpc::protobuf::MessageLite>(
        stubs.channel.get(), rpc, &context, request, &response);
  };
  return wire_->send(once, retry, wire_->options.request_timeout);
}

absl::StatusOr<v1::QueueJobResponse> Client::queue_job(const v1::QueueJobRequest& request) {
  const bool keyed = !request.spec().idempotency_key().empty();
  return wire_->call(&Stubs::jobs, &Jobs::QueueJob, request, keyed ? Retry::Safe : Retry::Never);
}

absl::StatusOr<v1::QueueJobBatchResponse> Client::queue_batch(const v1::QueueJobBatchRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::QueueJobBatch, request);
}

absl::StatusOr<v1::Job> Client::get_job(const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  return get_job(request);
}

absl::StatusOr<v1::Job> Client::get_job(const v1::GetJobRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::GetJob, request);
}

absl::StatusOr<v1::DeleteJobsResponse> Client::delete_jobs(const v1::DeleteJobsRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::DeleteJobs, request, Retry::Never);
}

absl::StatusOr<v1::ListJobsResponse> Client::list_jobs(const v1::ListJobsRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::ListJobs, request);
}

absl::StatusOr<v1::CancelJobResponse> Client::cancel_job(const v1::CancelJobRequest& request) {
  const Duration deadline = request.wait() ? kLongestCancelWait : wire_->options.request_timeout;
  return wire_->call(&Stubs::jobs, &Jobs::CancelJob, request, Retry::Safe, deadline);
}

absl::StatusOr<v1::QueueJobResponse> Client::retry_job(const v1::RetryJobRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::RetryJob, request, Retry::Never);
}

absl::StatusOr<v1::Template> Client::put_template(const v1::PutTemplateRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::PutTemplate, request);
}

absl::StatusOr<v1::Template> Client::get_template(const v1::GetTemplateRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::GetTemplate, request);
}

absl::StatusOr<v1::ListTemplatesResponse> Client::list_templates(const v1::ListTemplatesRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::ListTemplates, request);
}

absl::Status Client::delete_template(const v1::DeleteTemplateRequest& request) {
  return wire_->call(&Stubs::jobs, &Jobs::DeleteTemplate, request).status();
}

absl::StatusOr<v1::SchedulingDecision> Client::scheduling_decision(const std::string& job_id) {
  v1::GetSchedulingDecisionRequest request;
  request.set_job_id(job_id);
  return wire_->call(&Stubs::scheduler, &Scheduler::GetSchedulingDecision, request);
}

absl::StatusOr<v1::ScheduleJobResponse> Client::schedule_job(const v1::ScheduleJobRequest& request) {
  return wire_->call(&Stubs::scheduler, &Scheduler::ScheduleJob, request);
}

absl::StatusOr<v1::SchedulerConfig> Client::configure_scheduler(const v1::ConfigureSchedulerRequest& request) {
  return wire_->call(&Stubs::scheduler, &Scheduler::ConfigureScheduler, request);
}

absl::StatusOr<v1::QueueStatus> Client::queue_status() {
  return wire_->call(&Stubs::scheduler, &Scheduler::GetQueueStatus, v1::GetQueueStatusRequest());
}

absl::StatusOr<v1::ListWorkersResponse> Client::list_workers(const v1::ListWorkersRequest& request) {
  return wire_->call(&Stubs::workers, &Workers::ListWorkers, request);
}

absl::StatusOr<v1::Worker> Client::get_worker(const std::string& id) {
  v1::GetWorkerRequest request;
  request.set_worker_id(id);
  return wire_->call(&Stubs::workers, &Workers::GetWorker, request);
}

absl::StatusOr<v1::DrainWorkerResponse> Client::drain_worker(const v1::DrainWorkerRequest& request) {
  return wire_->call(&Stubs::workers, &Workers::DrainWorker, request);
}

absl::StatusOr<v1::Worker> Client::undrain_worker(const v1::UndrainWorkerRequest& request) {
  return wire_->call(&Stubs::workers, &Workers::UndrainWorker, request);
}

absl::StatusOr<v1::Worker> Client::taint_worker(const v1::TaintWorkerRequest& request) {
  return wire_->call(&Stubs::workers, &Workers::TaintWorker, request);
}

absl::Status Client::remove_worker(const v1::RemoveWorkerRequest& request) {
  return wire_->call(&Stubs::workers, &Workers::RemoveWorker, request).status();
}

absl::StatusOr<v1::CreateOtpResponse> Client::create_otp(const v1::CreateOtpRequest& request) {
  return wire_->call(&Stubs::workers, &Workers::CreateOtp, request);
}

absl::StatusOr<v1::Provider> Client::register_provider(const v1::RegisterProviderRequest& request) {
  return wire_->call(&Stubs::providers, &Providers::RegisterProvider, request, Retry::Never);
}

absl::StatusOr<v1::Provider> Client::update_provider(const v1::UpdateProviderRequest& request) {
  return wire_->call(&Stubs::providers, &Providers::UpdateProvider, request);
}

absl::Status Client::remove_provider(const std::string& name) {
  return wire_
      ->call(&Stubs::providers, &Providers::RemoveProvider, named<v1::RemoveProviderRequest>(name), Retry::Never)
      .status();
}

absl::StatusOr<v1::ListProvidersResponse> Client::list_providers() {
  return wire_->call(&Stubs::providers, &Providers::ListProviders, v1::ListProvidersRequest());
}

absl::StatusOr<v1::Provider> Client::get_provider(const std::string& name) {
  return wire_->call(&Stubs::providers, &Providers::GetProvider, named<v1::GetProviderRequest>(name));
}

absl::StatusOr<v1::ProviderHealth> Client::provider_health(const std::string& name) {
  return wire_->call(&Stubs::providers, &Providers::GetProviderHealth, named<v1::GetProviderHealthRequest>(name));
}

absl::StatusOr<v1::GetWorkerLogsResponse> Client::worker_logs(const v1::GetWorkerLogsRequest& request) {
  return wire_->call(&Stubs::providers, &Providers::GetWorkerLogs, request);
}

absl::StatusOr<v1::Pool> Client::set_pool(const v1::Pool& pool) {
  v1::SetPoolRequest request;
  *request.mutable_pool() = pool;
  return wire_->call(&Stubs::providers, &Providers::SetPool, request);
}

absl::Status Client::remove_pool(const std::string& name) {
  return wire_->call(&Stubs::providers, &Providers::RemovePool, named<v1::RemovePoolRequest>(name), Retry::Never)
      .status();
}

absl::StatusOr<v1::ListPoolsResponse> Client::list_pools() {
  return wire_->call(&Stubs::providers, &Providers::ListPools, v1::ListPoolsRequest());
}

absl::StatusOr<v1::SystemStatus> Client::system_status() {
  return wire_->call(&Stubs::admin, &Admin::GetSystemStatus, v1::GetSystemStatusRequest());
}

absl::StatusOr<v1::StoredSecret> Client::put_secret(const v1::PutSecretRequest& request) {
  return wire_->call(&Stubs::admin, &Admin::PutSecret, request);
}

absl::StatusOr<v1::ListSecretsResponse> Client::list_secrets(const v1::ListSecretsRequest& request) {
  return wire_->call(&Stubs::admin, &Admin::ListSecrets, request);
}

absl::Status Client::delete_secret(const v1::DeleteSecretRequest& request) {
  return wire_->call(&Stubs::admin, &Admin::DeleteSecret, request, Retry::Never).status();
}

absl::StatusOr<v1::ListAuditResponse> Client::list_audit(const v1::ListAuditRequest& request) {
  return wire_->call(&Stubs::admin, &Admin::ListAudit, request);
}

absl::Status Client::subscribe_logs(const v1::SubscribeLogsRequest& request,
                                    std::function<bool(const v1::LogChunk&)> take) {
  return wire_->stream(&Stubs::logs, &v1::LogStreamService::Stub::SubscribeLogs, request, take);
}

absl::Status Client::follow_events(const v1::ExecutionEventStreamRequest& request,
                                   std::function<bool(const v1::ExecutionEvent&)> take, std::stop_token stop,
                                   Duration life) {
  return wire_->stream(&Stubs::jobs, &Jobs::ExecutionEventStream, request, take, std::move(stop), life);
}

absl::Status Client::stream_metrics(const v1::StreamMetricsRequest& request,
                                    std::function<bool(const v1::MetricSample&)> take, std::stop_token stop) {
  return wire_->stream(&Stubs::metrics, &v1::MetricsService::Stub::StreamMetrics, request, take, std::move(stop));
}

}  // namespace hodei::cli
