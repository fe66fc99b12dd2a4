#include "src/api/grpc/worker_port.h"

#include <stdlib.h>

#include <filesystem>

#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "hodei/v1/artifact_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/api/grpc/host.h"
#include "src/api/wiring/server_calls.h"
#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/server/server.h"

namespace hodei::api::worker_port_test {
namespace {

// A server on loopback with a port for workers on another address of loopback.
class WorkerPortTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/hodei-port-test-XXXXXX";
    server::ServerOptions options;
    options.data_dir = folder_ = mkdtemp(folder);
    server_ = server::Server::open(options).value();
    calls_ = std::make_unique<ServerCalls>(server_->parts(), "127.0.0.1:0", [] { return LocalWorker{}; });
    ASSERT_TRUE(server_->start().ok());
    calls_->start();
    host_ = GrpcHost::open(calls_->all(), "127.0.0.1:0").value();
  }
  void TearDown() override {
    host_->stop();
    calls_->stop();
    server_->stop();
    host_ = nullptr;
    calls_ = nullptr;
    server_ = nullptr;
    std::filesystem::remove_all(folder_);
  }

  std::shared_ptr<grpc::Channel> at(const std::string& address) const {
    return grpc::CreateChannel(cat(address, ":", host_->port()), grpc::InsecureChannelCredentials());
  }

  template <class Stub, class Method, class Request, class Response>
  static grpc::StatusCode answer(Stub& stub, Method method, const Request& request, Response response) {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(30s));
    return (stub.*method)(&context, request, &response).error_code();
  }

  std::string folder_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<ServerCalls> calls_;
  std::unique_ptr<GrpcHost> host_;
};

TEST_F(WorkerPortTest, LetsWorkersRegisterAndNobodyDoAnythingElse) {
  ASSERT_TRUE(host_->open_worker_port("127.0.0.2").ok());
  const auto channel = at("127.0.0.2");
  const auto workers = v1::WorkerAgentService::NewStub(channel);
  using Workers = v1::WorkerAgentService::Stub;
  // It has looked at the token: the call has come through.
  EXPECT_EQ(answer(*workers, &Workers::Register, v1::RegisterRequest(), v1::RegisterResponse()),
            answer(*v1::WorkerAgentService::NewStub(at("127.0.0.1")), &Workers::Register, v1::RegisterRequest(),
                   v1::RegisterResponse()));
  EXPECT_EQ(answer(*workers, &Workers::ListWorkers, v1::ListWorkersRequest(), v1::ListWorkersResponse()),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(answer(*workers, &Workers::CreateOtp, v1::CreateOtpRequest(), v1::CreateOtpResponse()),
            grpc::StatusCode::UNIMPLEMENTED);
  const auto jobs = v1::JobExecutionService::NewStub(channel);
  EXPECT_EQ(answer(*jobs, &v1::JobExecutionService::Stub::ListJobs, v1::ListJobsRequest(), v1::ListJobsResponse()),
            grpc::StatusCode::UNIMPLEMENTED);
  const auto artifacts = v1::ArtifactService::NewStub(channel);
  EXPECT_EQ(
      answer(*artifacts, &v1::ArtifactService::Stub::List, v1::ListArtifactsRequest(), v1::ListArtifactsResponse()),
      grpc::StatusCode::UNIMPLEMENTED);
  // The same calls at the server's own address.
  const auto own = v1::WorkerAgentService::NewStub(at("127.0.0.1"));
  EXPECT_EQ(answer(*own, &Workers::ListWorkers, v1::ListWorkersRequest(), v1::ListWorkersResponse()),
            grpc::StatusCode::OK);
}

TEST_F(WorkerPortTest, GivesOutFilesOnlyForAnExecution) {
  ASSERT_TRUE(host_->open_worker_port("127.0.0.2").ok());
  const auto artifacts = v1::ArtifactService::NewStub(at("127.0.0.2"));
  const auto download = [&](const std::string& execution) {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(30s));
    v1::DownloadArtifactRequest request;
    request.mutable_artifact()->set_name("somebodys.txt");
    request.mutable_artifact()->set_execution_id(execution);
    const auto reader = artifacts->Download(&context, request);
    v1::DownloadArtifactResponse part;
    while (reader->Read(&part)) {
    }
    return reader->Finish().error_code();
  };
  EXPECT_EQ(download(""), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(download(to_string(ExecutionId{JobId{1}, 1})), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(WorkerPortTest, OpensOnceAndSaysWhenItCannot) {
  EXPECT_TRUE(host_->open_worker_port("127.0.0.2").ok());
  EXPECT_TRUE(host_->open_worker_port("127.0.0.2").ok());
  const absl::Status refused = host_->open_worker_port("192.0.2.77");  // of nobody
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("192.0.2.77"), std::string::npos);
}

}  // namespace
}  // namespace hodei::api::worker_port_test
