// The audit trail has what the table of calls says: each audited call leaves an entry, and no other call does.
#include <map>
#include <set>

#include "grpcpp/generic/generic_stub.h"
#include "hodei/v1/admin_service.grpc.pb.h"
#include "hodei/v1/provider_service.grpc.pb.h"
#include "hodei/v1/scheduler_service.grpc.pb.h"
#include "src/api/calls/table.h"
#include "src/api/grpc/server_fixture.h"

namespace hodei::api::audit_test {
namespace {

// The calls that leave these entries.
const std::map<std::string, std::string> kCallOf = {
    {"otp.created", "CreateOtp"},
    {"worker.registered", "Register"},
    {"worker.tainted", "TaintWorker"},
    {"worker.drained", "DrainWorker"},
    {"worker.undrained", "UndrainWorker"},
    {"worker.removed", "RemoveWorker"},
    {"worker.unregistered", "UnregisterWorker"},
    {"job.assigned", "AssignJob"},
    {"job.delete", "DeleteJobs"},
    {"logs.cleared", "ClearLogs"},
    {"template.set", "PutTemplate"},
    {"template.removed", "DeleteTemplate"},
    {"secret.set", "PutSecret"},
    {"secret.deleted", "DeleteSecret"},
    {"scheduler.set", "ConfigureScheduler"},
    {"tenant.set", "SetTenant"},
    {"limit.set", "SetLimit"},
    {"limit.removed", "RemoveLimit"},
    {"provider.added", "RegisterProvider"},
    {"provider.changed", "UpdateProvider"},
    {"provider.removed", "RemoveProvider"},
    {"pool.set", "SetPool"},
    {"pool.removed", "RemovePool"},
};

std::set<std::string> audited_calls() {
  std::set<std::string> out;
  for (const TableLine& line : call_table()) {
    if (line.line.audited == Audited::Yes) out.insert(std::string(line.line.name));
  }
  return out;
}

class Audit : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    admin_ = v1::AdminService::NewStub(channel_);
    scheduler_ = v1::SchedulerService::NewStub(channel_);
    providers_ = v1::ProviderManagementService::NewStub(channel_);
  }

  std::vector<std::string> actions() {
    v1::ListAuditRequest request;
    request.set_limit(1000);
    v1::ListAuditResponse answer;
    EXPECT_TRUE(call(*admin_, &v1::AdminService::Stub::ListAudit, request, &answer).ok());
    std::vector<std::string> out;
    for (const v1::AuditEntry& entry : answer.entries()) out.push_back(entry.action());
    return out;
  }

  template <class Response, class Stub, class Method, class Request>
  Response good(Stub& stub, Method method, const Request& request, const std::string& session = "") {
    Response response;
    const grpc::Status status = call(stub, method, request, &response, session);
    EXPECT_TRUE(status.ok()) << Request::descriptor()->name() << ": " << status.error_message();
    return response;
  }

  // A call with an empty request, by its name.
  void call_empty(const std::string& method) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(deadline_in(kCallPatience));
    grpc::CompletionQueue queue;
    const grpc::Slice nothing;
    const auto running = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&nothing, 1), &queue);
    running->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    running->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    EXPECT_NE(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << method;
  }

  // A worker that scores too little gets jobs only by hand.
  void act_on_jobs_and_workers() {
    using Workers = v1::WorkerAgentService::Stub;
    using Jobs = v1::JobExecutionService::Stub;
    v1::ConfigureSchedulerRequest scheduler;
    scheduler.set_threshold(1000);
    good<v1::SchedulerConfig>(*scheduler_, &v1::SchedulerService::Stub::ConfigureScheduler, scheduler);
    WorkerByHand first(*workers_, "w1"), second(*workers_, "w2");
    v1::AssignJobRequest assign;
    assign.set_job_id(submit(a_spec()));
    assign.set_worker_id("w1");
    good<v1::AssignJobResponse>(*jobs_, &Jobs::AssignJob, assign);
    const std::string execution = first.order().execution_id();
    v1::DrainWorkerRequest drain;
    drain.set_worker_id("w1");
    good<v1::DrainWorkerResponse>(*workers_, &Workers::DrainWorker, drain);
    v1::UndrainWorkerRequest undrain;
    undrain.set_worker_id("w1");
    good<v1::Worker>(*workers_, &Workers::UndrainWorker, undrain);
    first.result(execution, v1::JobResult::Succeeded, 0);
    good<v1::UnregisterWorkerResponse>(*workers_, &Workers::UnregisterWorker, v1::UnregisterWorkerRequest(),
                                       first.session());
    v1::TaintWorkerRequest taint;
    taint.set_worker_id("w2");
    taint.add_taints()->set_key("own");
    good<v1::Worker>(*workers_, &Workers::TaintWorker, taint);
    v1::RemoveWorkerRequest remove;
    remove.set_worker_id("w2");
    good<v1::RemoveWorkerResponse>(*workers_, &Workers::RemoveWorker, remove);
    v1::ClearLogsRequest clear;
    clear.set_job_id(assign.job_id());
    good<v1::ClearLogsResponse>(*logs_, &v1::LogStreamService::Stub::ClearLogs, clear);
    v1::DeleteJobsRequest forget;
    forget.add_job_ids(assign.job_id());
    good<v1::DeleteJobsResponse>(*jobs_, &Jobs::DeleteJobs, forget);
  }

  void act_on_templates_and_secrets() {
    using Jobs = v1::JobExecutionService::Stub;
    v1::PutTemplateRequest put;
    put.mutable_template_()->set_name("t");
    *put.mutable_template_()->mutable_spec() = a_spec();
    good<v1::Template>(*jobs_, &Jobs::PutTemplate, put);
    v1::DeleteTemplateRequest drop;
    drop.set_name("t");
    good<v1::DeleteTemplateResponse>(*jobs_, &Jobs::DeleteTemplate, drop);
    v1::PutSecretRequest secret;
    secret.set_name("s");
    secret.set_value("a value to hide");
    good<v1::StoredSecret>(*admin_, &v1::AdminService::Stub::PutSecret, secret);
    v1::DeleteSecretRequest forget;
    forget.set_name("s");
    good<v1::DeleteSecretResponse>(*admin_, &v1::AdminService::Stub::DeleteSecret, forget);
  }

  void act_on_shares() {
    using Scheduler = v1::SchedulerService::Stub;
    v1::SetTenantRequest tenant;
    tenant.set_weight(2);
    good<v1::Tenant>(*scheduler_, &Scheduler::SetTenant, tenant);
    v1::SetLimitRequest limit;
    limit.set_key("db");
    limit.set_limit(3);
    good<v1::Limit>(*scheduler_, &Scheduler::SetLimit, limit);
    v1::RemoveLimitRequest drop;
    drop.set_key("db");
    good<v1::RemoveLimitResponse>(*scheduler_, &Scheduler::RemoveLimit, drop);
  }

  void act_on_providers() {
    using Providers = v1::ProviderManagementService::Stub;
    v1::RegisterProviderRequest add;
    add.mutable_config()->set_name("p");
    add.mutable_config()->set_type("baremetal");
    good<v1::Provider>(*providers_, &Providers::RegisterProvider, add);
    v1::UpdateProviderRequest change;
    change.set_name("p");
    change.set_preference(3);
    good<v1::Provider>(*providers_, &Providers::UpdateProvider, change);
    v1::SetPoolRequest pool;
    pool.mutable_pool()->set_name("pool");
    good<v1::Pool>(*providers_, &Providers::SetPool, pool);
    v1::RemovePoolRequest drop;
    drop.set_name("pool");
    good<v1::RemovePoolResponse>(*providers_, &Providers::RemovePool, drop);
    v1::RemoveProviderRequest remove;
    remove.set_name("p");
    good<v1::RemoveProviderResponse>(*providers_, &Providers::RemoveProvider, remove);
  }

  std::unique_ptr<v1::AdminService::Stub> admin_;
  std::unique_ptr<v1::SchedulerService::Stub> scheduler_;
  std::unique_ptr<v1::ProviderManagementService::Stub> providers_;
};

TEST_F(Audit, EveryAuditedCallLeavesAnEntry) {
  act_on_jobs_and_workers();
  act_on_templates_and_secrets();
  act_on_shares();
  act_on_providers();
  std::set<std::string> seen;
  for (const std::string& action : actions()) {
    ASSERT_TRUE(kCallOf.contains(action)) << action;
    seen.insert(kCallOf.at(action));
  }
  EXPECT_EQ(seen, audited_calls());
}

TEST_F(Audit, NoOtherCallLeavesOne) {
  for (const TableLine& line : call_table()) {
    if (line.kind != CallKind::Unary || line.line.audited == Audited::Yes) continue;
    call_empty(cat("/", line.service, "/", line.line.name));
    EXPECT_TRUE(actions().empty()) << line.line.name;
  }
}

}  // namespace
}  // namespace hodei::api::audit_test
