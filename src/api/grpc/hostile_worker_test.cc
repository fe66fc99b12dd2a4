// A worker with a valid session that lies. It cannot read, end, log into, or take files or secrets of an execution that
// is not its own, and an honest worker's stream never ends for what it says late.
#include "src/api/calls/workers/worker_calls.h"
#include "src/api/grpc/server_fixture.h"

namespace hodei::api {
namespace {

using server::Claim;
using Jobs = v1::JobExecutionService::Stub;
using Workers = v1::WorkerAgentService::Stub;

class HostileWorker : public ServerTest {
 protected:
  // The honest worker gets a job with files and a secret; then the other one comes.
  void SetUp() override {
    ServerTest::SetUp();
    put("payroll/in.txt", "salaries");
    put("other.txt", "not of this job");
    honest_ = std::make_unique<WorkerByHand>(*workers_, "honest");
    v1::JobSpec spec = a_spec();
    spec.add_inputs()->set_url("hodei:payroll/in.txt");
    spec.add_outputs()->set_url("hodei:payroll/out.txt");
    spec.mutable_outputs(0)->set_path("out.txt");
    v1::Secret& secret = *spec.add_secrets();
    secret.set_name("token");
    secret.set_value("hunter2");
    spec.set_max_attempts(2);
    id_ = submit(spec);
    execution_ = honest_->order().execution_id();
    ASSERT_FALSE(execution_.empty());
    hostile_ = std::make_unique<WorkerByHand>(*workers_, "hostile", std::vector<std::string>{execution_});
  }
  void TearDown() override {
    honest_ = nullptr;
    hostile_ = nullptr;
    ServerTest::TearDown();
  }

  int64_t refused(Claim claim) const {
    return server_->parts().connections.refused_claims.counts()[static_cast<size_t>(claim)];
  }

  void put(const std::string& name, const std::string& content) {
    EXPECT_EQ(upload(name, content, "", "").error_code(), grpc::StatusCode::OK) << name;
  }

  grpc::Status upload(const std::string& name, const std::string& content, const std::string& execution,
                      const std::string& session) {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(kCallPatience));
    if (!session.empty()) context.AddMetadata("hodei-session", session);
    v1::StoredArtifact stored;
    const auto writer = artifacts_->Upload(&context, &stored);
    v1::UploadArtifactRequest part;
    part.mutable_header()->mutable_artifact()->set_name(name);
    part.mutable_header()->mutable_artifact()->set_execution_id(execution);
    writer->Write(part);
    part.set_chunk(content);
    writer->Write(part);
    part.mutable_end()->set_size(static_cast<int64_t>(content.size()));
    writer->Write(part);
    writer->WritesDone();
    return writer->Finish();
  }

  grpc::Status download(const std::string& name, const std::string& execution, const std::string& session,
                        std::string* content) {
    grpc::ClientContext context;
    context.set_deadline(deadline_in(kCallPatience));
    if (!session.empty()) context.AddMetadata("hodei-session", session);
    v1::DownloadArtifactRequest request;
    request.mutable_artifact()->set_name(name);
    request.mutable_artifact()->set_execution_id(execution);
    const auto reader = artifacts_->Download(&context, request);
    v1::DownloadArtifactResponse part;
    content->clear();
    while (reader->Read(&part)) *content += part.chunk();
    return reader->Finish();
  }

  std::string id_;
  std::string execution_;
  std::unique_ptr<WorkerByHand> honest_, hostile_;
};

TEST_F(HostileWorker, LearnsNothingOfAnExecutionThatItClaimsToHold) {
  EXPECT_TRUE(hostile_->is_heard());
  EXPECT_TRUE(hostile_->orders().empty()) << "neither the spec nor the secret";
  EXPECT_EQ(hostile_->welcome().log_positions_size(), 0) << "not even how much it printed";
  ASSERT_EQ(hostile_->welcome().unknown_size(), 1);
  EXPECT_EQ(hostile_->welcome().unknown(0), execution_);
}

TEST_F(HostileWorker, CannotWriteIntoTheLogOfAnotherWorkersExecution) {
  hostile_->log(execution_, 0, "forged\n");
  EXPECT_TRUE(hostile_->is_heard());
  ASSERT_EQ(hostile_->words().size(), 1u);
  EXPECT_NE(hostile_->words()[0].find("does not belong to worker hostile"), std::string::npos) << hostile_->words()[0];
  EXPECT_EQ(refused(Claim::Log), 1);
  honest_->log(execution_, 0, "true\n");
  honest_->waits_for_log(execution_, 5);
  honest_->result(execution_, v1::JobResult::Succeeded, 5);
  // Also not when it has ended, nor a line by itself, nor into a job that never was.
  hostile_->log(execution_, 5, "forged\n");
  v1::WorkerMessage line;
  line.add_log_entries()->set_execution_id(execution_);
  line.mutable_log_entries(0)->set_offset(5);
  line.mutable_log_entries(0)->set_line("forged\n");
  hostile_->say(line);
  hostile_->log(to_string(ExecutionId{JobId{77}, 1}), 0, "forged\n");
  EXPECT_TRUE(hostile_->is_heard());
  EXPECT_EQ(output(id_), "true");
  EXPECT_EQ(refused(Claim::Log), 4);
}

TEST_F(HostileWorker, CannotStartMoveOrEndAnotherWorkersExecutionOnItsStream) {
  v1::WorkerMessage message;
  message.add_started()->set_execution_id(execution_);
  message.add_progress()->set_execution_id(execution_);
  message.mutable_progress(0)->set_percentage(50);
  hostile_->say(message);
  hostile_->result(execution_, v1::JobResult::Failed, 0);
  EXPECT_TRUE(hostile_->is_heard());
  EXPECT_EQ(job(id_).state(), v1::Job::Scheduled);
  // The loop has decided the reports when it answers what it was asked after them.
  v1::ListWorkersResponse workers;
  EXPECT_TRUE(call(*workers_, &v1::WorkerAgentService::Stub::ListWorkers, v1::ListWorkersRequest(), &workers).ok());
  EXPECT_EQ(refused(Claim::Report), 3);
  EXPECT_EQ(job(id_).state(), v1::Job::Scheduled);
  honest_->result(execution_, v1::JobResult::Succeeded, 0);
  EXPECT_EQ(job(id_).state(), v1::Job::Succeeded);
}

TEST_F(HostileWorker, CannotReportAnotherWorkersExecutionInUnaryCalls) {
  const auto codes = [&](const std::string& session) {
    v1::StartJobRequest start;
    start.set_execution_id(execution_);
    v1::UpdateProgressRequest progress;
    progress.set_execution_id(execution_);
    v1::CompleteJobRequest complete;
    complete.set_execution_id(execution_);
    v1::FailJobRequest fail;
    fail.set_execution_id(execution_);
    v1::StartJobResponse started;
    v1::UpdateProgressResponse moved;
    v1::CompleteJobResponse completed;
    v1::FailJobResponse failed;
    return std::vector{call(*jobs_, &Jobs::StartJob, start, &started, session).error_code(),
                       call(*jobs_, &Jobs::UpdateProgress, progress, &moved, session).error_code(),
                       call(*jobs_, &Jobs::CompleteJob, complete, &completed, session).error_code(),
                       call(*jobs_, &Jobs::FailJob, fail, &failed, session).error_code()};
  };
  EXPECT_EQ(codes(hostile_->session()), std::vector(4, grpc::StatusCode::PERMISSION_DENIED));
  EXPECT_EQ(codes(""), std::vector(4, grpc::StatusCode::UNAUTHENTICATED));
  EXPECT_EQ(codes("no-such-session"), std::vector(4, grpc::StatusCode::UNAUTHENTICATED));
  EXPECT_EQ(job(id_).state(), v1::Job::Scheduled);
  EXPECT_EQ(refused(Claim::Report), 4);
  EXPECT_EQ(codes(honest_->session()), std::vector(4, grpc::StatusCode::OK));
  EXPECT_EQ(job(id_).state(), v1::Job::Succeeded);
}

TEST_F(HostileWorker, TakesAndStoresNoFilesOfAnotherWorkersJob) {
  std::string content;
  EXPECT_EQ(download("payroll/in.txt", execution_, hostile_->session(), &content).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(download("payroll/in.txt", execution_, "", &content).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(download("payroll/in.txt", execution_, "no-such-session", &content).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(content, "");
  EXPECT_EQ(upload("payroll/out.txt", "forged", execution_, hostile_->session()).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(upload("payroll/out.txt", "forged", execution_, "").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refused(Claim::Artifact), 2);
  // Its own worker: what the job names, as long as the execution is under way.
  EXPECT_EQ(download("payroll/in.txt", execution_, honest_->session(), &content).error_code(), grpc::StatusCode::OK);
  EXPECT_EQ(content, "salaries");
  EXPECT_EQ(download("other.txt", execution_, honest_->session(), &content).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(upload("payroll/in.txt", "forged", execution_, honest_->session()).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(upload("payroll/out.txt", "made", execution_, honest_->session()).error_code(), grpc::StatusCode::OK);
  honest_->result(execution_, v1::JobResult::Succeeded, 0);
  EXPECT_EQ(upload("payroll/out.txt", "late", execution_, honest_->session()).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(HostileWorker, UnregistersNobodyElse) {
  v1::UnregisterWorkerRequest request;
  request.set_worker_id("honest");
  v1::UnregisterWorkerResponse answer;
  EXPECT_EQ(call(*workers_, &Workers::UnregisterWorker, request, &answer).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(call(*workers_, &Workers::UnregisterWorker, request, &answer, hostile_->session()).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(refused(Claim::Worker), 1);
  EXPECT_TRUE(honest_->is_heard());
  request.set_worker_id("hostile");
  request.set_incarnation("an earlier start");
  EXPECT_EQ(call(*workers_, &Workers::UnregisterWorker, request, &answer, hostile_->session()).error_code(),
            grpc::StatusCode::ABORTED);
  request.clear_incarnation();
  EXPECT_EQ(call(*workers_, &Workers::UnregisterWorker, request, &answer, hostile_->session()).error_code(),
            grpc::StatusCode::OK);
}

TEST_F(HostileWorker, FillsTheAuditTrailWithNoMoreThanSomeRefusals) {
  v1::RegisterRequest request;
  request.set_auth_token("guess");
  request.set_incarnation("guesser");
  request.set_protocol_min(1);
  request.set_protocol_max(1);
  request.mutable_info()->set_id("guesser");
  request.mutable_info()->set_slots(1);
  v1::RegisterResponse answer;
  for (int i = 0; i < 2 * kMaxRefusalsPerMinute; ++i) {
    ASSERT_EQ(call(*workers_, &Workers::Register, request, &answer).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
  // What comes after them is decided after they are recorded.
  v1::CreateOtpResponse token;
  ASSERT_TRUE(call(*workers_, &Workers::CreateOtp, v1::CreateOtpRequest(), &token).ok());
  const auto recorded =
      server_->parts().storage.readers().lists->audit({.action = "worker.refused", .limit = 1000}).value();
  EXPECT_EQ(recorded.rows.size(), static_cast<size_t>(kMaxRefusalsPerMinute));
}

TEST_F(HostileWorker, NoHeartbeatOfAStreamThatHasEndedCounts) {
  constexpr uint64_t kStream = 2;  // the hostile worker came second
  ASSERT_TRUE(hostile_->is_heard());
  ASSERT_TRUE(server_->parts().connections.heartbeats.take({.worker = WorkerId("hostile"), .stream = kStream}));
  hostile_ = nullptr;
  const SystemClock clock;
  const MonoTime patience = clock.now().mono + kCallPatience;
  const auto counts = [&] {
    return server_->parts().connections.heartbeats.take({.worker = WorkerId("hostile"), .stream = kStream});
  };
  while (counts() && clock.now().mono < patience) pause_for(1ms);
  EXPECT_FALSE(counts());
}

TEST_F(HostileWorker, CannotBecomeAnotherWorkerInTheMiddleOfItsStream) {
  v1::WorkerMessage hello;
  hello.mutable_hello()->set_session_id(hostile_->session());
  hello.mutable_hello()->set_incarnation("again");
  hostile_->say(hello);
  EXPECT_FALSE(hostile_->is_heard());
  EXPECT_EQ(hostile_->end().error_message(), "only the first message of a stream may be a hello");
}

// All of a hello is one turn of the loop, and everybody waits for it.
TEST_F(HostileWorker, AHelloWithMoreExecutionsThanItsWorkerCanHaveIsRefused) {
  v1::WorkerMessage hello;
  hello.mutable_hello()->set_session_id(hostile_->session());
  hello.mutable_hello()->set_incarnation("hostile");
  for (uint32_t i = 1; i <= 100'000; ++i) {
    hello.mutable_hello()->add_held()->set_execution_id(to_string(ExecutionId{JobId{1}, i}));
  }
  grpc::ClientContext context;
  context.set_deadline(deadline_in(kCallPatience));
  const auto stream = workers_->WorkerStream(&context);
  stream->Write(hello);
  v1::ServerMessage answer;
  EXPECT_FALSE(stream->Read(&answer));
  const grpc::Status end = stream->Finish();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.error_message(), "hello.held: lists 100000 executions; a worker with 1 slot has at most 4097");
  EXPECT_TRUE(hostile_->is_heard()) << "the stream that it had goes on";
  EXPECT_TRUE(honest_->is_heard());
}

TEST_F(HostileWorker, UsageOfAnotherWorkersExecutionIsNotRecorded) {
  v1::WorkerMessage beat;
  beat.mutable_heartbeat()->set_sent_us(1000);
  beat.mutable_heartbeat()->add_executions()->set_execution_id(execution_);
  hostile_->say(beat);
  EXPECT_TRUE(hostile_->is_heard());
  EXPECT_EQ(refused(Claim::Usage), 1);
  honest_->say(beat);
  EXPECT_TRUE(honest_->is_heard());
  EXPECT_EQ(refused(Claim::Usage), 1);
}

TEST_F(HostileWorker, AMessageFullOfProgressCostsTheLoopOneWord) {
  v1::WorkerMessage message;
  message.add_started()->set_execution_id(execution_);
  for (int i = 0; i < 20'000; ++i) {
    v1::JobProgress& progress = *message.add_progress();
    progress.set_execution_id(execution_);
    progress.set_percentage(i / 200.0);
  }
  honest_->say(message);
  honest_->result(execution_, v1::JobResult::Succeeded, 0);
  const v1::Job done = job(id_);
  EXPECT_EQ(done.state(), v1::Job::Succeeded);
  EXPECT_GT(done.progress().percentage(), 99.9) << "the newest";
  EXPECT_EQ(refused(Claim::Report), 0);
}

TEST_F(HostileWorker, FiguresOfHeartbeatsThatComeTooOftenAreNotKept) {
  v1::WorkerMessage beat;
  beat.mutable_heartbeat()->set_sent_us(1000);
  beat.mutable_heartbeat()->add_executions()->set_execution_id(execution_);
  // Each that is looked at counts one claim that is refused.
  for (int i = 0; i < 100; ++i) hostile_->say(beat);
  EXPECT_TRUE(hostile_->is_heard());
  EXPECT_LT(refused(Claim::Usage), 50);
}

TEST_F(HostileWorker, NobodyWritesBehindTheEndOfALogNotEvenItsOwnWorker) {
  honest_->log(execution_, 0, "true\n");
  honest_->waits_for_log(execution_, 5);
  honest_->result(execution_, v1::JobResult::Succeeded, 5);
  honest_->log(execution_, 5, "more\n");
  EXPECT_TRUE(honest_->is_heard());
  ASSERT_EQ(honest_->words().size(), 1u);
  EXPECT_NE(honest_->words()[0].find("its log ended at 5 bytes"), std::string::npos) << honest_->words()[0];
  honest_->log(execution_, 0, "true\n");  // again, because its acknowledgement may have been lost
  EXPECT_TRUE(honest_->is_heard());
  EXPECT_EQ(honest_->words().size(), 1u);
  EXPECT_EQ(output(id_), "true");
}

TEST_F(HostileWorker, LateOutputOfAnExecutionThatWasGivenToAnotherIsTakenFromItsOwnWorker) {
  honest_->result(execution_, v1::JobResult::Lost, 0);  // and now it is somebody else's turn
  honest_->log(execution_, 0, "late\n");
  honest_->waits_for_log(execution_, 5);
  EXPECT_TRUE(honest_->is_heard()) << "its stream goes on";
}

}  // namespace
}  // namespace hodei::api
