#include "bench/lib/job_output.h"

#include "bench/lib/clock.h"
#include "bench/lib/connection.h"
#include "bench/lib/live_jobs.h"
#include "grpcpp/grpcpp.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "hodei/v1/log_service.grpc.pb.h"
#include "src/base/text.h"

namespace hodei::bench {
namespace {

constexpr auto kLongest = std::chrono::minutes(10);

std::string submit(grpc::Channel& channel, const std::string& program, int64_t lines) {
  const auto stub = v1::JobExecutionService::NewStub(std::shared_ptr<grpc::Channel>(&channel, [](auto*) {}));
  v1::QueueJobRequest request;
  request.mutable_spec()->set_name("lines");
  request.mutable_spec()->mutable_command()->mutable_shell()->set_cmd(program);
  request.mutable_spec()->mutable_command()->mutable_shell()->add_args(cat(lines));
  grpc::ClientContext context;
  v1::QueueJobResponse response;
  const grpc::Status status = stub->QueueJob(&context, request, &response);
  if (!status.ok()) give_up("QueueJob: " + status.error_message());
  return response.job_id();
}

}  // namespace

Output job_output(const std::string& server, const std::string& program, int64_t lines) {
  const auto channel = connect(server);
  const auto stub = v1::LogStreamService::NewStub(channel);
  const int64_t began = mono_ns();
  v1::SubscribeLogsRequest request;
  request.set_job_id(submit(*channel, program, lines));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLongest);
  const auto reader = stub->SubscribeLogs(&context, request);
  Output out;
  v1::LogChunk chunk;
  while (reader->Read(&chunk)) {
    if (chunk.has_gap()) ++out.gaps;
    for (const v1::LogEntry& entry : chunk.entries()) {
      ++(entry.partial() ? out.pieces : out.lines);
      out.bytes += static_cast<int64_t>(entry.line().size()) + (entry.partial() ? 0 : 1);
    }
  }
  if (const grpc::Status status = reader->Finish(); !status.ok()) give_up("SubscribeLogs: " + status.error_message());
  out.seconds = seconds_since(began);
  return out;
}

}  // namespace hodei::bench
