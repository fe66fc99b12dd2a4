// JobExecutionService: the calls about jobs, and their lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/job_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/api/calls/source.h"
#include "src/server/event_hub.h"
#include "src/server/secrets/vault.h"

namespace hodei::api {

struct JobPorts {
  Commands& commands;
  Stored stored;
  const server::Vault& vault;
  server::LogHub& logs;
  server::EventHub& events;
  server::OpenCalls& open_calls;
  server::RefusedClaims& refused;
  Replies& replies;
  CheckRoom check_room;
  InputTrouble input_trouble;
};

// submit.cc
void queue_job(const JobPorts& p, const Call& call, const v1::QueueJobRequest& in, Answer<v1::QueueJobResponse> answer);
void queue_job_batch(const JobPorts& p, const Call& call, const v1::QueueJobBatchRequest& in,
                     Answer<v1::QueueJobBatchResponse> answer);
void retry_job(const JobPorts& p, const Call& call, const v1::RetryJobRequest& in, Answer<v1::QueueJobResponse> answer);
// One request of QueueJobs, which each transport binds by hand. `told` gets the note for the submitter.
absl::StatusOr<core::Submit> submission_of(const JobPorts& p, const Call& call, const v1::QueueJobRequest& in,
                                           v1::QueueJobResponse* told);
// What is answered to it.
void fill_submitted(const core::Submitted::One& one, v1::QueueJobResponse* out);

// read_jobs.cc
void get_job(const JobPorts& p, const Call& call, const v1::GetJobRequest& in, Answer<v1::Job> answer);
void list_jobs(const JobPorts& p, const Call& call, const v1::ListJobsRequest& in, Answer<v1::ListJobsResponse> answer);

// control.cc
void assign_job(const JobPorts& p, const Call& call, const v1::AssignJobRequest& in,
                Answer<v1::AssignJobResponse> answer);
void cancel_job(const JobPorts& p, const Call& call, const v1::CancelJobRequest& in,
                Answer<v1::CancelJobResponse> answer);

// job_delete.cc
void delete_jobs(const JobPorts& p, const Call& call, const v1::DeleteJobsRequest& in,
                 Answer<v1::DeleteJobsResponse> answer);

// job_reports.cc
void start_job(const JobPorts& p, const Call& call, const v1::StartJobRequest& in, Answer<v1::StartJobResponse> answer);
void update_progress(const JobPorts& p, const Call& call, const v1::UpdateProgressRequest& in,
                     Answer<v1::UpdateProgressResponse> answer);
void complete_job(const JobPorts& p, const Call& call, const v1::CompleteJobRequest& in,
                  Answer<v1::CompleteJobResponse> answer);
void fail_job(const JobPorts& p, const Call& call, const v1::FailJobRequest& in, Answer<v1::FailJobResponse> answer);

// job_events.cc
SourceOr<v1::ExecutionEvent> watch_executions(const JobPorts& p, const Call& call,
                                              const v1::ExecutionEventStreamRequest& in);

// job_templates.cc
void put_template(const JobPorts& p, const Call& call, const v1::PutTemplateRequest& in, Answer<v1::Template> answer);
void delete_template(const JobPorts& p, const Call& call, const v1::DeleteTemplateRequest& in,
                     Answer<v1::DeleteTemplateResponse> answer);
void get_template(const JobPorts& p, const Call& call, const v1::GetTemplateRequest& in, Answer<v1::Template> answer);
void list_templates(const JobPorts& p, const Call& call, const v1::ListTemplatesRequest& in,
                    Answer<v1::ListTemplatesResponse> answer);

struct JobCalls {
  static constexpr std::string_view service = "hodei.v1.JobExecutionService";
  using Ports = JobPorts;
  static Ports ports(const ServerPorts& s) {
    return {s.commands,   s.stored,  s.vault,   s.logs,       s.events,
            s.open_calls, s.refused, s.replies, s.check_room, s.input_trouble};
  }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.unary({"QueueJob", Who::Operator, By::Loop, Post, "/api/v1/jobs"}, queue_job);
    v.unary({"QueueJobBatch", Who::Operator, By::Loop, Post, "/api/v1/jobs:batch"}, queue_job_batch);
    v.by_hand({"QueueJobs", Who::Operator, By::Loop, Post, "/api/v1/jobs:stream"});
    v.unary({"GetJob", Who::Viewer, By::Store, Get, "/api/v1/jobs/{job_id}"}, get_job);
    v.unary({"ListJobs", Who::Viewer, By::Store, Get, "/api/v1/jobs"}, list_jobs);
    v.unary({"AssignJob", Who::Scheduler, By::Loop, Post, "/api/v1/jobs/{job_id}:assign", Audited::Yes}, assign_job);
    v.unary({"StartJob", Who::Worker, By::Loop, Post, "/api/v1/executions/{execution_id}:start"}, start_job);
    v.unary({"UpdateProgress", Who::Worker, By::Loop, Post, "/api/v1/executions/{execution_id}:progress"},
            update_progress);
    v.unary({"CompleteJob", Who::Worker, By::Loop, Post, "/api/v1/executions/{execution_id}:complete"}, complete_job);
    v.unary({"FailJob", Who::Worker, By::Loop, Post, "/api/v1/executions/{execution_id}:fail"}, fail_job);
    v.unary({"CancelJob", Who::Operator, By::Loop, Post, "/api/v1/jobs/{job_id}:cancel", Audited::No, Waits::Yes},
            cancel_job);
    v.unary({"RetryJob", Who::Operator, By::Loop, Post, "/api/v1/jobs/{job_id}:retry"}, retry_job);
    v.unary({"DeleteJobs", Who::Operator, By::Loop, Post, "/api/v1/jobs:delete", Audited::Yes}, delete_jobs);
    v.source({"ExecutionEventStream", Who::Viewer, By::Events, Get, "/api/v1/events"}, watch_executions);
    v.unary({"PutTemplate", Who::Operator, By::Loop, Put, "/api/v1/templates/{template.name}", Audited::Yes},
            put_template);
    v.unary({"DeleteTemplate", Who::Operator, By::Loop, Delete, "/api/v1/templates/{name}", Audited::Yes},
            delete_template);
    v.unary({"GetTemplate", Who::Operator, By::Store, Get, "/api/v1/templates/{name}"}, get_template);
    v.unary({"ListTemplates", Who::Operator, By::Store, Get, "/api/v1/templates"}, list_templates);
  }
};

}  // namespace hodei::api
