// A server that stops ends every long call at once, with UNAVAILABLE and a hint, whatever the call waits for.
#include <future>
#include <thread>

#include "hodei/v1/metrics_service.grpc.pb.h"
#include "hodei/v1/scheduler_service.grpc.pb.h"
#include "src/api/grpc/server_fixture.h"

namespace hodei::api {
namespace {

// The promise is two seconds on a quiet machine. Without it a stop takes as long as the longest call: for ever, here.
constexpr Duration kLongestStop = 5s;

class Stop : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    worker_ = std::make_unique<WorkerByHand>(*workers_, "w1");
    id_ = submit(a_spec());
    execution_ = worker_->order().execution_id();
    v1::WorkerMessage started;
    started.add_started()->set_execution_id(execution_);
    worker_->say(started);
    EXPECT_TRUE(worker_->is_heard());
    // The loop has decided it, durably, when it answers what it was asked after it.
    v1::ListWorkersResponse workers;
    EXPECT_TRUE(call(*workers_, &v1::WorkerAgentService::Stub::ListWorkers, v1::ListWorkersRequest(), &workers).ok());
  }
  void TearDown() override {
    if (host_ != nullptr) stop();
    worker_ = nullptr;
    ServerTest::TearDown();
  }

  // `open` makes the call and returns its status when it is over. The server stops as soon as it knows the call.
  void stops_at_once_with(const std::function<grpc::Status(grpc::ClientContext&)>& open) {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(kCallPatience));
    auto over = std::async(std::launch::async, [&] { return open(context); });
    const SystemClock clock;
    const MonoTime patience = clock.now().mono + kCallPatience;
    while (server_->parts().connections.open_calls.size() == 0 && clock.now().mono < patience)
      std::this_thread::yield();
    ASSERT_EQ(server_->parts().connections.open_calls.size(), 1u);
    const MonoTime began = clock.now().mono;
    stop();
    EXPECT_LT(clock.now().mono - began, kLongestStop);
    const grpc::Status status = over.get();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
    EXPECT_EQ(status.error_message(), "the server is shutting down; try again in a moment");
  }

  template <class Message, class Stub, class Method, class Request>
  void stops_at_once_with_stream(Stub& stub, Method method, const Request& request) {
    stops_at_once_with([&](grpc::ClientContext& context) {
      const auto reader = (stub.*method)(&context, request);
      Message message;
      while (reader->Read(&message)) {
      }
      return reader->Finish();
    });
  }

  std::unique_ptr<WorkerByHand> worker_;
  std::string id_;
  std::string execution_;
};

TEST_F(Stop, EndsACancelThatWaitsForTheJob) {
  stops_at_once_with([&](grpc::ClientContext& context) {
    v1::CancelJobRequest request;
    request.set_job_id(id_);
    request.set_wait(true);
    v1::CancelJobResponse answer;
    return jobs_->CancelJob(&context, request, &answer);
  });
}

TEST_F(Stop, EndsASubscriptionToLogs) {
  v1::SubscribeLogsRequest request;
  request.set_job_id(id_);
  stops_at_once_with_stream<v1::LogChunk>(*logs_, &v1::LogStreamService::Stub::SubscribeLogs, request);
}

TEST_F(Stop, EndsAWatchOfOneJob) {
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(id_);
  stops_at_once_with_stream<v1::ExecutionEvent>(*jobs_, &v1::JobExecutionService::Stub::ExecutionEventStream, request);
}

TEST_F(Stop, EndsAWatchOfAllJobs) {
  stops_at_once_with_stream<v1::ExecutionEvent>(*jobs_, &v1::JobExecutionService::Stub::ExecutionEventStream,
                                                v1::ExecutionEventStreamRequest());
}

TEST_F(Stop, EndsAWatchOfDecisions) {
  const auto stub = v1::SchedulerService::NewStub(channel_);
  stops_at_once_with_stream<v1::SchedulingDecision>(*stub, &v1::SchedulerService::Stub::SchedulingDecisionStream,
                                                    v1::SchedulingDecisionStreamRequest());
}

TEST_F(Stop, EndsAStreamOfMetrics) {
  const auto stub = v1::MetricsService::NewStub(channel_);
  stops_at_once_with_stream<v1::MetricSample>(*stub, &v1::MetricsService::Stub::StreamMetrics,
                                              v1::StreamMetricsRequest());
}

TEST_F(Stop, EndsAStreamOfSubmissionsAfterWhatItHasTaken) {
  int answers = 0;
  stops_at_once_with([&](grpc::ClientContext& context) {
    const auto stream = jobs_->QueueJobs(&context);
    v1::QueueJobRequest request;
    *request.mutable_spec() = a_spec();
    stream->Write(request);
    v1::QueueJobResponse answer;
    while (stream->Read(&answer)) ++answers;
    return stream->Finish();
  });
  EXPECT_LE(answers, 1);
}

TEST_F(Stop, EndsAnUploadThatWaitsForMore) {
  stops_at_once_with([&](grpc::ClientContext& context) {
    v1::StoredArtifact stored;
    const auto writer = artifacts_->Upload(&context, &stored);
    v1::UploadArtifactRequest part;
    part.mutable_header()->mutable_artifact()->set_name("half");
    writer->Write(part);
    return writer->Finish();  // the rest never comes
  });
}

TEST_F(Stop, CountsNobodysSilenceAndLosesNoExecution) {
  stop();
  server::ServerOptions options;
  options.data_dir = folder_;
  const auto again = server::Server::open(options).value();
  const absl::StatusOr<store::JobView> job = again->parts().storage.readers().lists->job(parse_job_id(id_).value());
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->head.state, core::JobState::Running);
}

}  // namespace
}  // namespace hodei::api
