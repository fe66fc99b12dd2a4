// Workers that have registered and do not open their stream in time.
#include "src/core/engine_harness.h"

namespace hodei::core::late_worker_test {
namespace {

// Worker w1, with a token of its own.
RegisterWorker registers(Bench& bench) {
  RegisterWorker call;
  call.otp = hash128("token");
  call.new_session = hash128("session");
  call.info = a_worker().info;
  call.info.id = WorkerId("w1");
  call.incarnation = "i1";
  bench.ask<OtpMade>(MakeOtp{*call.otp, call.info.id});
  bench.ask<Registered>(call);
  return call;
}

TEST(LateWorker, EndsAtItsDeadline) {
  Bench bench;
  const RegisterWorker call = registers(bench);
  bench.advance(59s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Connecting);
  bench.advance(2s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
  EXPECT_NE(bench.rows.workers.at(WorkerId("w1"))->info.end_reason.find("did not connect within 60 s"),
            std::string::npos);
  bench.advance(std::chrono::hours(2));
  EXPECT_FALSE(bench.rows.workers.contains(WorkerId("w1")));
  EXPECT_TRUE(absl::IsUnauthenticated(
      bench.refused(OpenStream{.session = call.new_session, .incarnation = "i1", .stream = 5})));
}

TEST(LateWorker, MayStillConnect) {
  Bench bench;
  const RegisterWorker call = registers(bench);
  bench.advance(90s);
  ASSERT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
  bench.restart();
  const JobId job = bench.submit(a_job());
  bench.ask<StreamOpened>(OpenStream{.session = call.new_session, .incarnation = "i1", .stream = 5});
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Ready);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->info.end_reason, "");
  EXPECT_EQ(bench.where(job), "w1");
}

TEST(LateWorker, MayRegisterAgainWithItsSessionAndHasItsTimeAgain) {
  Bench bench;
  RegisterWorker call = registers(bench);
  bench.advance(90s);
  call.otp.reset();
  call.session = call.new_session;
  bench.ask<Registered>(call);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Connecting);
  bench.advance(50s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Connecting);
  bench.ask<StreamOpened>(OpenStream{.session = call.new_session, .incarnation = "i1", .stream = 5});
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Ready);
}

TEST(LateWorker, IsNotOneThatWasDrainedOrRemoved) {
  for (const bool drained : {true, false}) {
    Bench bench;
    bench.worker("w1").joins();
    const Hash128 session = bench.sessions["w1"];
    if (drained) bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
    if (drained) bench.worker("w1").closes();
    if (!drained) bench.ask<Done>(UnregisterWorker{WorkerId("w1"), ""});
    ASSERT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
    EXPECT_TRUE(bench.rows.workers.at(WorkerId("w1"))->has_left_for_good());
    EXPECT_TRUE(
        absl::IsUnauthenticated(bench.refused(OpenStream{.session = session, .incarnation = "i1", .stream = 5})));
    RegisterWorker call;
    call.session = session;
    call.info = a_worker().info;
    call.info.id = WorkerId("w1");
    call.incarnation = "i1";
    EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(call)));
  }
}

TEST(LateWorker, HasAsLongAsTheSettingSays) {
  EngineConfig config;
  config.registration_limit = 10s;
  Bench bench(config);
  registers(bench);
  bench.advance(9s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Connecting);
  bench.advance(2s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
  EXPECT_NE(bench.rows.workers.at(WorkerId("w1"))->info.end_reason.find("did not connect within 10 s"),
            std::string::npos);
}

TEST(LateWorker, DoesNotPutOffItsDeadlineByHeartbeats) {
  Bench bench;
  registers(bench);
  for (int i = 0; i < 7; ++i) {
    bench.advance(9s);
    bench.decide(Heartbeat{.worker = WorkerId("w1")}).IgnoreError();
  }
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
}

TEST(LateWorker, HasItsTimeAgainAfterARestart) {
  Bench bench;
  registers(bench);
  bench.advance(50s);
  bench.restart();
  bench.advance(50s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Connecting);
  bench.advance(11s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
}

TEST(LateWorker, IsNotOneThatHadAStream) {
  Bench bench;
  bench.worker("w1").joins().closes().goes_silent();
  bench.advance(200s);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Ready);
}

}  // namespace
}  // namespace hodei::core::late_worker_test
