// For tests of the whole gRPC side: a server on loopback, in a folder of its own, with its calls a line each; and a
// worker made by hand, which says whatever it likes.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "hodei/v1/artifact_service.grpc.pb.h"
#include "hodei/v1/job_service.grpc.pb.h"
#include "hodei/v1/log_service.grpc.pb.h"
#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/api/grpc/host.h"
#include "src/api/wiring/server_calls.h"
#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/server/server.h"

namespace hodei::api {

// Only reached when something is broken.
inline constexpr Duration kCallPatience = 30s;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/hodei-api-test-XXXXXX";
    server::ServerOptions options;
    options.data_dir = folder_ = mkdtemp(folder);
    server_ = server::Server::open(options).value();
    calls_ = std::make_unique<ServerCalls>(server_->parts(), "127.0.0.1:0", [] { return LocalWorker{}; });
    ASSERT_TRUE(server_->start().ok());
    calls_->start();
    host_ = GrpcHost::open(calls_->all(), "127.0.0.1:0").value();
    channel_ = grpc::CreateChannel(cat("127.0.0.1:", host_->port()), grpc::InsecureChannelCredentials());
    jobs_ = v1::JobExecutionService::NewStub(channel_);
    workers_ = v1::WorkerAgentService::NewStub(channel_);
    logs_ = v1::LogStreamService::NewStub(channel_);
    artifacts_ = v1::ArtifactService::NewStub(channel_);
  }
  void TearDown() override {
    if (host_ != nullptr) stop();
    std::filesystem::remove_all(folder_);
  }
  void stop() {
    server_->begin_stop();
    host_->stop();
    calls_->stop();
    server_->stop();
    host_ = nullptr;
    calls_ = nullptr;
    server_ = nullptr;
  }

  // One unary call, with a worker's session or without.
  template <class Stub, class Method, class Request, class Response>
  static grpc::Status call(Stub& stub, Method method, const Request& request, Response* response,
                           const std::string& session = "") {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(kCallPatience));
    if (!session.empty()) context.AddMetadata("hodei-session", session);
    return (stub.*method)(&context, request, response);
  }

  std::string submit(const v1::JobSpec& spec) {
    v1::QueueJobRequest request;
    *request.mutable_spec() = spec;
    v1::QueueJobResponse answer;
    const grpc::Status status = call(*jobs_, &v1::JobExecutionService::Stub::QueueJob, request, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer.short_id();
  }

  v1::Job job(const std::string& id) {
    v1::GetJobRequest request;
    request.set_job_id(id);
    v1::Job answer;
    EXPECT_TRUE(call(*jobs_, &v1::JobExecutionService::Stub::GetJob, request, &answer).ok());
    return answer;
  }

  std::string output(const std::string& id) {
    v1::GetLogsRequest request;
    request.set_job_id(id);
    v1::GetLogsResponse answer;
    EXPECT_TRUE(call(*logs_, &v1::LogStreamService::Stub::GetLogs, request, &answer).ok());
    std::string text;
    for (const v1::LogEntry& entry : answer.entries()) text += entry.line();
    return text;
  }

  std::string folder_;
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<ServerCalls> calls_;
  std::unique_ptr<GrpcHost> host_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::JobExecutionService::Stub> jobs_;
  std::unique_ptr<v1::WorkerAgentService::Stub> workers_;
  std::unique_ptr<v1::LogStreamService::Stub> logs_;
  std::unique_ptr<v1::ArtifactService::Stub> artifacts_;
};

inline v1::JobSpec a_spec() {
  v1::JobSpec spec;
  spec.mutable_command()->mutable_shell()->set_cmd("true");
  return spec;
}

// A worker with a session and an open stream. Nothing that it says is checked on this side.
class WorkerByHand {
 public:
  WorkerByHand(v1::WorkerAgentService::Stub& stub, const std::string& id, const std::vector<std::string>& held = {})
      : stub_(stub) {
    v1::CreateOtpRequest otp;
    otp.set_worker_id(id);
    v1::CreateOtpResponse token;
    grpc::ClientContext first;
    EXPECT_TRUE(stub_.CreateOtp(&first, otp, &token).ok());
    v1::RegisterRequest request;
    request.set_auth_token(token.token());
    request.set_incarnation(id);
    request.set_protocol_min(1);
    request.set_protocol_max(1);
    request.mutable_info()->set_id(id);
    request.mutable_info()->set_slots(1);
    request.mutable_info()->mutable_capacity()->set_cpu_cores(4);
    request.mutable_info()->mutable_capacity()->set_memory_mb(4096);
    for (const char* can : {"shell", "script"}) request.mutable_info()->add_capabilities(can);
    v1::RegisterResponse answer;
    grpc::ClientContext second;
    const grpc::Status status = stub_.Register(&second, request, &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    session_ = answer.session_id();
    context_.set_deadline(deadline_in(kCallPatience));
    stream_ = stub_.WorkerStream(&context_);
    v1::WorkerMessage hello;
    hello.mutable_hello()->set_session_id(session_);
    hello.mutable_hello()->set_incarnation(id);
    for (const std::string& execution : held) {
      v1::HeldExecution& one = *hello.mutable_hello()->add_held();
      one.set_execution_id(execution);
      one.set_started(true);
    }
    say(hello);
    while (!welcome_ && read()) {
    }
    EXPECT_TRUE(welcome_) << end_.error_message();
  }

  const std::string& session() const { return session_; }
  const v1::Welcome& welcome() const { return *welcome_; }
  const grpc::Status& end() const { return end_; }  // of its stream
  const std::vector<v1::RunJob>& orders() const { return orders_; }
  const std::vector<std::string>& words() const { return words_; }

  void say(const v1::WorkerMessage& message) { stream_->Write(message); }

  // The next order for it.
  v1::RunJob order() {
    const size_t before = taken_;
    while (orders_.size() == before && read()) {
    }
    return orders_.size() > before ? orders_[taken_++] : v1::RunJob();
  }

  // Everything it said before has been dealt with, and its stream is open still.
  bool is_heard() {
    const int64_t number = ++beats_;
    v1::WorkerMessage beat;
    beat.mutable_heartbeat()->set_sent_us(number);
    say(beat);
    while (acked_beat_ != number) {
      if (!read()) return false;
    }
    return true;
  }

  void log(const std::string& execution, int64_t offset, const std::string& line) {
    v1::WorkerMessage message;
    v1::LogBatch& batch = *message.add_logs();
    batch.set_execution_id(execution);
    batch.set_offset(offset);
    batch.set_data(line);
    batch.add_lines(static_cast<uint32_t>(line.size()) << 2);
    batch.set_first_time_us(1);
    say(message);
  }

  // Until its output is acknowledged up to there.
  void waits_for_log(const std::string& execution, int64_t offset) {
    while (log_position(execution) < offset && read()) {
    }
    EXPECT_GE(log_position(execution), offset) << execution;
  }

  void result(const std::string& execution, v1::JobResult::Outcome outcome, int64_t log_bytes) {
    v1::WorkerMessage message;
    v1::JobResult& one = *message.add_results();
    one.set_execution_id(execution);
    one.set_outcome(outcome);
    one.set_started_us(1);
    one.set_ended_us(2);
    one.set_log_bytes(log_bytes);
    say(message);
    while (acked_results_.empty() || acked_results_.back() != execution) {
      if (!read()) break;
    }
  }

 private:
  int64_t log_position(const std::string& execution) const {
    const auto it = log_positions_.find(execution);
    return it == log_positions_.end() ? -1 : it->second;
  }

  bool read() {
    v1::ServerMessage message;
    if (!end_.ok()) return false;
    if (!stream_->Read(&message)) {
      end_ = stream_->Finish();
      if (end_.ok()) end_ = {grpc::StatusCode::UNKNOWN, "it ended without an error"};
      return false;
    }
    if (message.has_welcome()) welcome_ = message.welcome();
    for (const v1::RunJob& run : message.run()) orders_.push_back(run);
    for (const std::string& word : message.ack().instructions()) words_.push_back(word);
    for (const std::string& done : message.ack().results()) acked_results_.push_back(done);
    for (const v1::LogPosition& p : message.ack().logs()) log_positions_[p.execution_id()] = p.offset();
    if (message.ack().heartbeat_sent_us() != 0) acked_beat_ = message.ack().heartbeat_sent_us();
    return true;
  }

  v1::WorkerAgentService::Stub& stub_;
  std::string session_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::ServerMessage>> stream_;
  std::optional<v1::Welcome> welcome_;
  grpc::Status end_;
  std::vector<v1::RunJob> orders_;
  size_t taken_ = 0;
  std::vector<std::string> words_;
  std::vector<std::string> acked_results_;
  std::map<std::string, int64_t> log_positions_;
  int64_t beats_ = 0;
  int64_t acked_beat_ = 0;
};

}  // namespace hodei::api
