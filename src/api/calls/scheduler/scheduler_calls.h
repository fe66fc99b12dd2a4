// SchedulerService: the calls about where jobs go, and their lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/scheduler_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/api/calls/source.h"
#include "src/server/event_hub.h"
#include "src/server/secrets/vault.h"

namespace hodei::api {

struct SchedulerPorts {
  Commands& commands;
  Stored stored;
  const server::Vault& vault;
  server::EventHub& events;
  CheckRoom check_room;
  InputTrouble input_trouble;
};

void schedule_job(const SchedulerPorts& p, const Call& call, const v1::ScheduleJobRequest& in,
                  Answer<v1::ScheduleJobResponse> answer);
void get_scheduling_decision(const SchedulerPorts& p, const Call& call, const v1::GetSchedulingDecisionRequest& in,
                             Answer<v1::SchedulingDecision> answer);
void configure_scheduler(const SchedulerPorts& p, const Call& call, const v1::ConfigureSchedulerRequest& in,
                         Answer<v1::SchedulerConfig> answer);
void get_queue_status(const SchedulerPorts& p, const Call& call, const v1::GetQueueStatusRequest& in,
                      Answer<v1::QueueStatus> answer);
void get_available_workers(const SchedulerPorts& p, const Call& call, const v1::GetAvailableWorkersRequest& in,
                           Answer<v1::GetAvailableWorkersResponse> answer);

// shares.cc
void list_tenants(const SchedulerPorts& p, const Call& call, const v1::ListTenantsRequest& in,
                  Answer<v1::ListTenantsResponse> answer);
void set_tenant(const SchedulerPorts& p, const Call& call, const v1::SetTenantRequest& in, Answer<v1::Tenant> answer);
void list_limits(const SchedulerPorts& p, const Call& call, const v1::ListLimitsRequest& in,
                 Answer<v1::ListLimitsResponse> answer);
void set_limit(const SchedulerPorts& p, const Call& call, const v1::SetLimitRequest& in, Answer<v1::Limit> answer);
void remove_limit(const SchedulerPorts& p, const Call& call, const v1::RemoveLimitRequest& in,
                  Answer<v1::RemoveLimitResponse> answer);

// decisions.cc
SourceOr<v1::SchedulingDecision> watch_decisions(const SchedulerPorts& p, const Call& call,
                                                 const v1::SchedulingDecisionStreamRequest& in);

struct SchedulerCalls {
  static constexpr std::string_view service = "hodei.v1.SchedulerService";
  using Ports = SchedulerPorts;
  static Ports ports(const ServerPorts& s) {
    return {s.commands, s.stored, s.vault, s.events, s.check_room, s.input_trouble};
  }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.unary({"ScheduleJob", Who::Scheduler, By::Loop, Post, "/api/v1/jobs:schedule"}, schedule_job);
    v.unary({"GetSchedulingDecision", Who::Viewer, By::Loop, Get, "/api/v1/jobs/{job_id}/decision"},
            get_scheduling_decision);
    v.unary({"ConfigureScheduler", Who::Admin, By::Loop, Patch, "/api/v1/scheduler", Audited::Yes},
            configure_scheduler);
    v.unary({"GetQueueStatus", Who::Viewer, By::Loop, Get, "/api/v1/queue"}, get_queue_status);
    v.unary({"GetAvailableWorkers", Who::Admin, By::Loop, Post, "/api/v1/workers:available"}, get_available_workers);
    v.unary({"ListTenants", Who::Admin, By::Loop, Get, "/api/v1/tenants"}, list_tenants);
    v.unary({"SetTenant", Who::Admin, By::Loop, Patch, "/api/v1/tenants/{namespace}", Audited::Yes}, set_tenant);
    v.unary({"ListLimits", Who::Admin, By::Loop, Get, "/api/v1/limits"}, list_limits);
    v.unary({"SetLimit", Who::Admin, By::Loop, Patch, "/api/v1/limits/{key}", Audited::Yes}, set_limit);
    v.unary({"RemoveLimit", Who::Admin, By::Loop, Delete, "/api/v1/limits/{key}", Audited::Yes}, remove_limit);
    v.source({"SchedulingDecisionStream", Who::Viewer, By::Events, Get, "/api/v1/decisions"}, watch_decisions);
  }
};

}  // namespace hodei::api
