// SchedulerService.
#pragma once

#include "hodei/v1/scheduler_service.grpc.pb.h"
#include "src/server/server.h"

namespace hodei::api {

class SchedulerService final : public v1::SchedulerService::CallbackService {
 public:
  explicit SchedulerService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* ScheduleJob(Context* c, const v1::ScheduleJobRequest* in, v1::ScheduleJobResponse* out) override;
  Unary* GetSchedulingDecision(Context* c, const v1::GetSchedulingDecisionRequest* in,
                               v1::SchedulingDecision* out) override;
  Unary* ConfigureScheduler(Context* c, const v1::ConfigureSchedulerRequest* in, v1::SchedulerConfig* out) override;
  Unary* GetQueueStatus(Context* c, const v1::GetQueueStatusRequest* in, v1::QueueStatus* out) override;
  Unary* GetAvailableWorkers(Context* c, const v1::GetAvailableWorkersRequest* in,
                             v1::GetAvailableWorkersResponse* out) override;
  // scheduler_shares.cc
  Unary* ListTenants(Context* c, const v1::ListTenantsRequest* in, v1::ListTenantsResponse* out) override;
  Unary* SetTenant(Context* c, const v1::SetTenantRequest* in, v1::Tenant* out) override;
  Unary* ListLimits(Context* c, const v1::ListLimitsRequest* in, v1::ListLimitsResponse* out) override;
  Unary* SetLimit(Context* c, const v1::SetLimitRequest* in, v1::Limit* out) override;
  Unary* RemoveLimit(Context* c, const v1::RemoveLimitRequest* in, v1::RemoveLimitResponse* out) override;
  grpc::ServerWriteReactor<v1::SchedulingDecision>* SchedulingDecisionStream(
      Context* c, const v1::SchedulingDecisionStreamRequest* in) override;

 private:
  // A finished job's decision is with its last execution.
  absl::Status decision_of_finished(JobId job, v1::SchedulingDecision* out);
  void tell_decision(JobId id, Unary* reactor, v1::ScheduleJobResponse* out);

  server::Server& server_;
};

}  // namespace hodei::api
