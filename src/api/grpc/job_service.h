// JobExecutionService.
#pragma once

#include "hodei/v1/job_service.grpc.pb.h"
#include "src/api/grpc/secrets.h"
#include "src/server/server.h"

namespace hodei::api {

class JobService final : public v1::JobExecutionService::CallbackService {
 public:
  explicit JobService(server::Server& server) : server_(server) {}

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* QueueJob(Context* c, const v1::QueueJobRequest* in, v1::QueueJobResponse* out) override;
  Unary* QueueJobBatch(Context* c, const v1::QueueJobBatchRequest* in, v1::QueueJobBatchResponse* out) override;
  grpc::ServerBidiReactor<v1::QueueJobRequest, v1::QueueJobResponse>* QueueJobs(Context* c) override;
  Unary* GetJob(Context* c, const v1::GetJobRequest* in, v1::Job* out) override;
  Unary* ListJobs(Context* c, const v1::ListJobsRequest* in, v1::ListJobsResponse* out) override;
  Unary* AssignJob(Context* c, const v1::AssignJobRequest* in, v1::AssignJobResponse* out) override;
  Unary* StartJob(Context* c, const v1::StartJobRequest* in, v1::StartJobResponse* out) override;
  Unary* UpdateProgress(Context* c, const v1::UpdateProgressRequest* in, v1::UpdateProgressResponse* out) override;
  Unary* CompleteJob(Context* c, const v1::CompleteJobRequest* in, v1::CompleteJobResponse* out) override;
  Unary* FailJob(Context* c, const v1::FailJobRequest* in, v1::FailJobResponse* out) override;
  Unary* CancelJob(Context* c, const v1::CancelJobRequest* in, v1::CancelJobResponse* out) override;
  Unary* DeleteJobs(Context* c, const v1::DeleteJobsRequest* in, v1::DeleteJobsResponse* out) override;
  Unary* RetryJob(Context* c, const v1::RetryJobRequest* in, v1::QueueJobResponse* out) override;
  grpc::ServerWriteReactor<v1::ExecutionEvent>* ExecutionEventStream(
      Context* c, const v1::ExecutionEventStreamRequest* in) override;
  Unary* PutTemplate(Context* c, const v1::PutTemplateRequest* in, v1::Template* out) override;
  Unary* DeleteTemplate(Context* c, const v1::DeleteTemplateRequest* in, v1::DeleteTemplateResponse* out) override;
  Unary* GetTemplate(Context* c, const v1::GetTemplateRequest* in, v1::Template* out) override;
  Unary* ListTemplates(Context* c, const v1::ListTemplatesRequest* in, v1::ListTemplatesResponse* out) override;

 private:
  // `told`: what the submitter should know, beside the id.
  absl::StatusOr<core::Submit> submission(const Context& c, const v1::QueueJobRequest& in, v1::QueueJobResponse* told);
  SecretDesk desk() { return {server_.vault(), server_.lookups()}; }
  // A job that is not in the engine any more: not found, or finished, which is FAILED_PRECONDITION.
  absl::Status explain_absence(JobId job);  // reads
  absl::Status list_jobs(const v1::ListJobsRequest& in, const store::ReadLimit& limit, v1::ListJobsResponse* out);
  absl::StatusOr<core::Submit> resubmission(const Context& c, const v1::RetryJobRequest& in);

  server::Server& server_;
};

}  // namespace hodei::api
