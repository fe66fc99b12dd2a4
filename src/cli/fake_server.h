// A server for tests: answers what a test tells it to, over real gRPC on loopback, and remembers what it was asked.
#pragma once

#include <grpcpp/grpcpp.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "hodei/v1/admin_service.grpc.pb.h"
#include "hodei/v1/input_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "hodei/v1/log_service.grpc.pb.h"
#include "hodei/v1/provider_service.grpc.pb.h"
#include "hodei/v1/scheduler_service.grpc.pb.h"
#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/base/pause.h"
#include "src/base/time.h"

namespace hodei::cli {

// What one stream does: sends these, then ends like this. When there is no script left, it ends well at once.
template <class Item>
struct StreamScript {
  std::vector<Item> items;
  grpc::Status end = grpc::Status::OK;
};

class FakeJobs final : public v1::JobExecutionService::Service {
 public:
  grpc::Status QueueJob(grpc::ServerContext*, const v1::QueueJobRequest* request,
                        v1::QueueJobResponse* answer) override {
    const std::lock_guard lock(mutex);
    queued.push_back(*request);
    if (!queue_errors.empty()) {
      const grpc::Status error = queue_errors.front();
      queue_errors.pop_front();
      return error;
    }
    answer->set_short_id("j1");
    answer->set_takes_stdin(knows_stdin && request->spec().takes_stdin());
    return grpc::Status::OK;
  }
  grpc::Status QueueJobBatch(grpc::ServerContext*, const v1::QueueJobBatchRequest* request,
                             v1::QueueJobBatchResponse* answer) override {
    const std::lock_guard lock(mutex);
    batches.push_back(*request);
    for (int i = 1; i <= request->specs_size(); ++i) answer->add_jobs()->set_short_id("j" + std::to_string(i));
    return grpc::Status::OK;
  }
  grpc::Status RetryJob(grpc::ServerContext*, const v1::RetryJobRequest* request,
                        v1::QueueJobResponse* answer) override {
    const std::lock_guard lock(mutex);
    retried.push_back(request->job_id());
    answer->set_short_id(request->job_id() + "0");
    return grpc::Status::OK;
  }
  grpc::Status ListTemplates(grpc::ServerContext*, const v1::ListTemplatesRequest*,
                             v1::ListTemplatesResponse* answer) override {
    answer->add_templates()->set_name("greet");
    return grpc::Status::OK;
  }
  grpc::Status DeleteTemplate(grpc::ServerContext*, const v1::DeleteTemplateRequest*,
                              v1::DeleteTemplateResponse*) override {
    return grpc::Status::OK;
  }
  // The last answer is given again and again.
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest* request, v1::Job* answer) override {
    const std::lock_guard lock(mutex);
    const bool is_look = request->execution_page_size() == 1;  // whether there is such a job, before the real call
    if (!is_look) asked.push_back(*request);
    if (no_such_id) return {grpc::NOT_FOUND, "job " + request->job_id() + " is not known"};
    if (jobs.empty()) {
      answer->set_short_id(request->job_id());
      return grpc::Status::OK;
    }
    *answer = jobs.front();
    if (jobs.size() > 1 && !is_look) jobs.pop_front();
    return grpc::Status::OK;
  }
  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* answer) override {
    const std::lock_guard lock(mutex);
    listed.push_back(*request);
    const size_t first = request->page_token().empty() ? 0 : std::stoul(request->page_token());
    const size_t end = std::min(jobs.size(), first + std::min(page, jobs.size()));
    for (size_t i = first; i < end; ++i) *answer->add_jobs() = jobs[i];
    if (end < jobs.size()) answer->set_next_page_token(std::to_string(end));
    return grpc::Status::OK;
  }
  grpc::Status DeleteJobs(grpc::ServerContext*, const v1::DeleteJobsRequest* request,
                          v1::DeleteJobsResponse* answer) override {
    const std::lock_guard lock(mutex);
    deleted.push_back(*request);
    answer->set_deleted(request->job_ids_size());
    return grpc::Status::OK;
  }
  grpc::Status CancelJob(grpc::ServerContext*, const v1::CancelJobRequest* request,
                         v1::CancelJobResponse* answer) override {
    const std::lock_guard lock(mutex);
    const auto error = cancel_errors.find(request->job_id());
    if (error != cancel_errors.end()) return error->second;
    cancelled.push_back(*request);
    answer->set_state(v1::Job::Running);
    answer->set_short_id(request->job_id());
    return grpc::Status::OK;
  }
  grpc::Status ExecutionEventStream(grpc::ServerContext*, const v1::ExecutionEventStreamRequest*,
                                    grpc::ServerWriter<v1::ExecutionEvent>* writer) override {
    StreamScript<v1::ExecutionEvent> script;
    {
      const std::lock_guard lock(mutex);
      ++event_streams;
      if (!events.empty()) script = events.front(), events.pop_front();
    }
    for (const v1::ExecutionEvent& event : script.items) writer->Write(event);
    return script.end;
  }
  grpc::Status PutTemplate(grpc::ServerContext*, const v1::PutTemplateRequest* request, v1::Template* answer) override {
    *answer = request->template_();
    answer->set_revision(1);
    return grpc::Status::OK;
  }

  std::mutex mutex;
  std::deque<grpc::Status> queue_errors;
  std::map<std::string, grpc::Status> cancel_errors;  // by id
  size_t page = SIZE_MAX;                             // jobs of one page of a list
  std::deque<v1::Job> jobs;
  std::deque<StreamScript<v1::ExecutionEvent>> events;
  std::vector<v1::QueueJobRequest> queued;
  std::vector<v1::ListJobsRequest> listed;
  std::vector<v1::QueueJobBatchRequest> batches;
  std::vector<std::string> retried;
  std::vector<v1::CancelJobRequest> cancelled;
  std::vector<v1::DeleteJobsRequest> deleted;
  std::vector<v1::GetJobRequest> asked;
  bool no_such_id = false;  // GetJob knows none
  int event_streams = 0;
  bool knows_stdin = true;
};

class FakeLogs final : public v1::LogStreamService::Service {
 public:
  grpc::Status SubscribeLogs(grpc::ServerContext*, const v1::SubscribeLogsRequest* request,
                             grpc::ServerWriter<v1::LogChunk>* writer) override {
    StreamScript<v1::LogChunk> script;
    {
      const std::lock_guard lock(mutex);
      requests.push_back(*request);
      if (!scripts.empty()) script = scripts.front(), scripts.pop_front();
    }
    if (wait) wait();
    for (const v1::LogChunk& chunk : script.items) writer->Write(chunk);
    return script.end;
  }

  std::mutex mutex;
  std::function<void()> wait;  // before the first chunk
  std::deque<StreamScript<v1::LogChunk>> scripts;
  std::vector<v1::SubscribeLogsRequest> requests;
};

class FakeWorkers final : public v1::WorkerAgentService::Service {
 public:
  grpc::Status ListWorkers(grpc::ServerContext*, const v1::ListWorkersRequest*,
                           v1::ListWorkersResponse* answer) override {
    for (const std::string& id : ids) {
      v1::Worker& worker = *answer->add_workers();
      worker.mutable_info()->set_id(id);
      if (names.count(id) != 0) worker.mutable_info()->set_name(names[id]);
      const bool is_gone = gone.count(id) != 0;
      worker.set_state(is_gone ? v1::Worker::Terminated : v1::Worker::Ready);
      worker.set_connected(!is_gone);
    }
    return grpc::Status::OK;
  }
  grpc::Status GetWorker(grpc::ServerContext*, const v1::GetWorkerRequest* request, v1::Worker* answer) override {
    answer->mutable_info()->set_id(request->worker_id());
    answer->set_state(v1::Worker::Ready);
    return grpc::Status::OK;
  }
  grpc::Status DrainWorker(grpc::ServerContext*, const v1::DrainWorkerRequest* request,
                           v1::DrainWorkerResponse* answer) override {
    drained.push_back(request->worker_id());
    answer->set_executions_left(2);
    return grpc::Status::OK;
  }

  grpc::Status TaintWorker(grpc::ServerContext*, const v1::TaintWorkerRequest* request, v1::Worker* answer) override {
    tainted.push_back(*request);
    answer->mutable_info()->set_id(request->worker_id());
    *answer->mutable_info()->mutable_taints() = request->taints();
    return grpc::Status::OK;
  }

  grpc::Status UndrainWorker(grpc::ServerContext*, const v1::UndrainWorkerRequest* request,
                             v1::Worker* answer) override {
    undrained.push_back(request->worker_id());
    answer->mutable_info()->set_id(request->worker_id());
    return grpc::Status::OK;
  }
  grpc::Status RemoveWorker(grpc::ServerContext*, const v1::RemoveWorkerRequest*, v1::RemoveWorkerResponse*) override {
    return grpc::Status::OK;
  }

  std::vector<std::string> ids;
  std::map<std::string, std::string> names;  // by id
  std::set<std::string> gone;
  std::vector<std::string> undrained;
  std::vector<std::string> drained;
  std::vector<v1::TaintWorkerRequest> tainted;
};

class FakeScheduler final : public v1::SchedulerService::Service {
 public:
  grpc::Status GetSchedulingDecision(grpc::ServerContext*, const v1::GetSchedulingDecisionRequest*,
                                     v1::SchedulingDecision* answer) override {
    *answer = decision;
    return grpc::Status::OK;
  }
  grpc::Status ScheduleJob(grpc::ServerContext*, const v1::ScheduleJobRequest* request,
                           v1::ScheduleJobResponse* answer) override {
    previewed.push_back(*request);
    *answer->mutable_decision() = decision;
    return grpc::Status::OK;
  }
  std::vector<v1::ScheduleJobRequest> previewed;
  grpc::Status ListTenants(grpc::ServerContext*, const v1::ListTenantsRequest*,
                           v1::ListTenantsResponse* answer) override {
    for (const v1::Tenant& one : tenants) *answer->add_tenants() = one;
    return grpc::Status::OK;
  }
  grpc::Status SetTenant(grpc::ServerContext*, const v1::SetTenantRequest* request, v1::Tenant* answer) override {
    tenants_set.push_back(*request);
    if (!tenants.empty()) *answer = tenants[0];
    return grpc::Status::OK;
  }
  grpc::Status ListLimits(grpc::ServerContext*, const v1::ListLimitsRequest*, v1::ListLimitsResponse* answer) override {
    for (const v1::Limit& one : limits) *answer->add_limits() = one;
    return grpc::Status::OK;
  }
  grpc::Status SetLimit(grpc::ServerContext*, const v1::SetLimitRequest* request, v1::Limit* answer) override {
    limits_set.push_back(*request);
    if (!limits.empty()) *answer = limits[0];
    return grpc::Status::OK;
  }
  grpc::Status RemoveLimit(grpc::ServerContext*, const v1::RemoveLimitRequest* request,
                           v1::RemoveLimitResponse*) override {
    limits_removed.push_back(request->key());
    return grpc::Status::OK;
  }
  v1::SchedulingDecision decision;
  std::vector<v1::Tenant> tenants;
  std::vector<v1::Limit> limits;
  std::vector<v1::SetTenantRequest> tenants_set;
  std::vector<v1::SetLimitRequest> limits_set;
  std::vector<std::string> limits_removed;
  grpc::Status ConfigureScheduler(grpc::ServerContext*, const v1::ConfigureSchedulerRequest* request,
                                  v1::SchedulerConfig* answer) override {
    if (request->ByteSizeLong() > 0) configured.push_back(*request);
    *answer = config;
    return grpc::Status::OK;
  }
  v1::SchedulerConfig config;
  std::vector<v1::ConfigureSchedulerRequest> configured;
};

class FakeAdmin final : public v1::AdminService::Service {
 public:
  grpc::Status GetSystemStatus(grpc::ServerContext*, const v1::GetSystemStatusRequest*,
                               v1::SystemStatus* answer) override {
    answer->set_state(v1::SystemStatus::Ready);
    answer->set_server_pid(4711);
    return grpc::Status::OK;
  }
  grpc::Status PutSecret(grpc::ServerContext*, const v1::PutSecretRequest* request, v1::StoredSecret* answer) override {
    const std::lock_guard lock(mutex);
    put.push_back(*request);
    answer->set_name(request->name());
    answer->set_revision(1);
    answer->set_note(request->value().size() < 6 ? "too short" : "");
    return grpc::Status::OK;
  }
  // Pages of two, newest first.
  grpc::Status ListAudit(grpc::ServerContext*, const v1::ListAuditRequest* request,
                         v1::ListAuditResponse* answer) override {
    const std::lock_guard lock(mutex);
    audited.push_back(*request);
    int64_t number = request->page_token().empty() ? 5 : std::stoll(request->page_token()) - 1;
    for (int n = 0; n < std::min(request->limit(), 2) && number > 0; ++n) answer->add_entries()->set_number(number--);
    if (number > 0) answer->set_next_page_token(std::to_string(number + 1));
    return grpc::Status::OK;
  }
  std::mutex mutex;
  std::vector<v1::PutSecretRequest> put;
  std::vector<v1::ListAuditRequest> audited;
};

class FakeProviders final : public v1::ProviderManagementService::Service {
 public:
  grpc::Status RegisterProvider(grpc::ServerContext*, const v1::RegisterProviderRequest* request,
                                v1::Provider* answer) override {
    registered.push_back(request->config());
    *answer->mutable_config() = request->config();
    return refuse;
  }
  grpc::Status UpdateProvider(grpc::ServerContext*, const v1::UpdateProviderRequest* request,
                              v1::Provider* answer) override {
    updated.push_back(*request);
    answer->mutable_config()->set_name(request->name());
    return refuse;
  }
  grpc::Status RemoveProvider(grpc::ServerContext*, const v1::RemoveProviderRequest* request,
                              v1::RemoveProviderResponse*) override {
    removed.push_back(request->name());
    return refuse;
  }
  grpc::Status ListProviders(grpc::ServerContext*, const v1::ListProvidersRequest*,
                             v1::ListProvidersResponse* answer) override {
    for (const v1::Provider& one : providers) *answer->add_providers() = one;
    return grpc::Status::OK;
  }
  grpc::Status GetProvider(grpc::ServerContext*, const v1::GetProviderRequest* request, v1::Provider* answer) override {
    for (const v1::Provider& one : providers) {
      if (one.config().name() == request->name()) return *answer = one, grpc::Status::OK;
    }
    return {grpc::NOT_FOUND, "provider '" + request->name() + "' is not there; see `hodei provider list`"};
  }
  grpc::Status GetProviderHealth(grpc::ServerContext*, const v1::GetProviderHealthRequest*,
                                 v1::ProviderHealth* answer) override {
    *answer = health;
    return grpc::Status::OK;
  }
  grpc::Status GetWorkerLogs(grpc::ServerContext*, const v1::GetWorkerLogsRequest* request,
                             v1::GetWorkerLogsResponse* answer) override {
    answer->set_text(printed.empty() ? request->worker_id() + " printed " + std::to_string(request->tail()) : printed);
    return grpc::Status::OK;
  }
  grpc::Status SetPool(grpc::ServerContext*, const v1::SetPoolRequest* request, v1::Pool* answer) override {
    pools.push_back(request->pool());
    *answer = request->pool();
    return grpc::Status::OK;
  }
  grpc::Status RemovePool(grpc::ServerContext*, const v1::RemovePoolRequest* request,
                          v1::RemovePoolResponse*) override {
    removed.push_back(request->name());
    return grpc::Status::OK;
  }
  grpc::Status ListPools(grpc::ServerContext*, const v1::ListPoolsRequest*, v1::ListPoolsResponse* answer) override {
    for (const v1::Pool& one : pools) *answer->add_pools() = one;
    return grpc::Status::OK;
  }

  grpc::Status refuse = grpc::Status::OK;
  std::string printed;  // by every worker, if it is not empty
  std::vector<v1::ProviderConfig> registered;
  std::vector<v1::UpdateProviderRequest> updated;
  std::vector<std::string> removed;
  std::vector<v1::Provider> providers;
  std::vector<v1::Pool> pools;
  v1::ProviderHealth health;
};

// Takes standard input as the server does; `breaks` says after how many bytes each call in turn is cut off.
class FakeInputs final : public v1::JobInputService::Service {
 public:
  grpc::Status Send(grpc::ServerContext*,
                    grpc::ServerReaderWriter<v1::SendInputResponse, v1::SendInputRequest>* stream) override {
    v1::SendInputRequest piece;
    v1::SendInputResponse answer;
    size_t most = SIZE_MAX;
    {
      const std::lock_guard lock(mutex);
      ++calls;
      if (!breaks.empty()) most = breaks.front(), breaks.pop_front();
      if (!refusals.empty()) {
        const grpc::Status refusal = refusals.front();
        refusals.pop_front();
        return refusal;
      }
    }
    while (stream->Read(&piece)) {
      const std::lock_guard lock(mutex);
      if (!piece.job_id().empty()) piece.set_offset(static_cast<int64_t>(taken.size()));  // it asks where to begin
      if (piece.offset() > static_cast<int64_t>(taken.size())) return {grpc::INVALID_ARGUMENT, "a gap"};
      taken.resize(static_cast<size_t>(piece.offset()));
      taken += piece.data();
      if (taken.size() > most) {
        taken.resize(most);
        return {grpc::UNAVAILABLE, "the server goes away"};
      }
      ended = ended || piece.end();
      broken = broken || piece.broken();
      answer.set_offset(static_cast<int64_t>(taken.size()));
      answer.set_ended(ended);
      answer.set_closed(broken);
      stream->Write(answer);
      if (ended || broken) return grpc::Status::OK;
    }
    const std::lock_guard lock(mutex);
    over = true;
    return grpc::Status::OK;
  }
  // The client has said all that it wants to say.
  void wait_until_over() {
    const SystemClock clock;
    const MonoTime end = clock.now().mono + 20s;
    while (clock.now().mono < end) {
      {
        const std::lock_guard lock(mutex);
        if (over) return;
      }
      pause_for(1ms);
    }
  }

  std::mutex mutex;
  bool over = false;
  std::deque<size_t> breaks;
  std::deque<grpc::Status> refusals;  // of the first calls
  std::string taken;
  bool ended = false;
  bool broken = false;
  int calls = 0;
};

class FakeServer {
 public:
  FakeServer() { start(); }
  ~FakeServer() { stop(); }

  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port_), grpc::InsecureServerCredentials(), &port_);
    for (grpc::Service* service :
         std::initializer_list<grpc::Service*>{&jobs, &logs, &workers, &scheduler, &admin, &providers, &inputs}) {
      builder.RegisterService(service);
    }
    for (grpc::Service* service : others_) builder.RegisterService(service);
    server_ = builder.BuildAndStart();
  }
  void stop() {
    if (!server_) return;
    server_->Shutdown();
    server_->Wait();
    server_.reset();
  }
  // A service that only some tests need; it outlives the server.
  void add(grpc::Service& service) {
    stop();
    others_.push_back(&service);
    start();
  }
  bool is_up() const { return server_ != nullptr; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  FakeJobs jobs;
  FakeLogs logs;
  FakeWorkers workers;
  FakeScheduler scheduler;
  FakeAdmin admin;
  FakeProviders providers;
  FakeInputs inputs;

 private:
  int port_ = 0;
  std::vector<grpc::Service*> others_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace hodei::cli
