// Two starts of one worker: the second speaks for the first only where it proves that nothing of it is left.
#include "gmock/gmock.h"
#include "src/core/engine_harness.h"

namespace hodei::core {
namespace {

using testing::HasSubstr;

Incarnation stranger(uint64_t generation = 1) { return {"another start", "another-folder", generation}; }

TEST(Succession, IsProvenByALaterGenerationOfTheSameLineage) {
  const Incarnation first{"a", "here", 1};
  EXPECT_TRUE(speaks_for(first, {})) << "nobody was there before";
  EXPECT_TRUE(speaks_for(first, first));
  EXPECT_TRUE(speaks_for({"b", "here", 2}, first));
  EXPECT_FALSE(speaks_for(first, {"b", "here", 2})) << "a report of one that is gone itself";
  EXPECT_FALSE(speaks_for({"b", "there", 2}, first));
  EXPECT_FALSE(speaks_for({"b", "", 0}, {"a", "", 0})) << "an older worker says nothing";
}

TEST(Succession, KeepsItsColumnForm) {
  for (const Incarnation& one : {Incarnation{"a", "", 0}, Incarnation{"a", "here", 7}, Incarnation{"a\nb", "", 0},
                                 Incarnation{"", "here", UINT64_MAX}, Incarnation{"a\n\n", "x", 1}}) {
    EXPECT_EQ(parse_incarnation(to_text(one)), one) << to_text(one);
  }
  EXPECT_EQ(parse_incarnation("plain"), (Incarnation{"plain", "", 0})) << "as earlier versions stored it";
}

TEST(RestartedSupervisor, GivesBackWhatItsPredecessorRanAtOnce) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(2));
  worker.takes(job).closes().restarts();
  EXPECT_EQ(bench.state(job), JobState::Scheduled) << "the folder's lock and the kill before the hello prove it";
  EXPECT_EQ(bench.job(job).executions, 2u);
}

TEST(CopyOfAStateFolder, WaitsUntilTheLeaseOfTheOtherHasEnded) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(2));
  worker.takes(job).closes();
  const absl::Status early = worker.appears(stranger());
  EXPECT_EQ(early.code(), absl::StatusCode::kUnavailable) << "it is to try again";
  EXPECT_THAT(std::string(early.message()), HasSubstr("may still run 1 execution"));
  EXPECT_THAT(std::string(early.message()), HasSubstr("in 45 s"));
  bench.advance(40s);
  EXPECT_FALSE(worker.appears(stranger()).ok());
  EXPECT_EQ(bench.state(job), JobState::Running) << "asking does not make it heard of";
  bench.advance(6s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_TRUE(worker.appears(stranger()).ok());
  EXPECT_EQ(bench.job(job).executions, 2u);
}

TEST(CopyOfAStateFolder, DoesNotPushAsideTheOneThatIsConnected) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const uint64_t stream = worker.stream();
  const absl::Status refused = worker.appears(stranger());
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("is connected"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--state-dir"));
  EXPECT_TRUE(worker.live().connected);
  EXPECT_EQ(worker.live().stream, stream);
  worker.closes();
  EXPECT_TRUE(worker.appears(stranger()).ok()) << "nothing ran there, so nothing is waited for";
}

TEST(CopyOfAStateFolder, IsToldSoWhenItRegisters) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  worker.takes(job);
  const WorkerInfo info = worker.live().record->info;
  const absl::Status refused =
      bench.refused(RegisterWorker{{}, bench.sessions["w1"], {}, info, "another start", "another-folder", 1});
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("1 execution"));
}

TEST(NewToken, DoesNotProveThatAnythingHasEnded) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().attempts(2));
  worker.takes(job);
  const WorkerInfo info = worker.live().record->info;
  const Hash128 token = hash128("second token");
  bench.ask<OtpMade>(MakeOtp{token, worker.id()});
  const RegisterWorker again{token, {}, hash128("second session"), info, "another start", "another-folder", 1};
  EXPECT_EQ(bench.refused(again).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(bench.state(job), JobState::Running);
  worker.goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_TRUE(bench.decide(again).ok()) << "the token was not used up by being early";
}

TEST(NewToken, ReplacesAWorkerThatHasNothingUnderWay) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const WorkerInfo info = worker.live().record->info;
  const Hash128 token = hash128("second token");
  bench.ask<OtpMade>(MakeOtp{token, worker.id()});
  ASSERT_TRUE(
      bench.decide(RegisterWorker{token, {}, hash128("second session"), info, "another start", "another-folder", 1})
          .ok());
  EXPECT_FALSE(worker.live().connected) << "or orders would still go to the one that it replaces";
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
  EXPECT_EQ(bench.refused(OpenStream{bench.sessions["w1"], "incarnation 1", 99, {}}).code(),
            absl::StatusCode::kUnauthenticated);
  bench.ask<StreamOpened>(OpenStream{hash128("second session"), "another start", 100, {}, "another-folder", 1});
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
}

TEST(LateHello, OfAnEarlierStartIsRefused) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const Incarnation first = parse_incarnation(bench.rows.workers.at(worker.id())->incarnation);
  worker.restarts();
  const JobId job = bench.submit(a_job());
  worker.takes(job);
  EXPECT_EQ(worker.appears(first).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(bench.state(job), JobState::Running);
}

}  // namespace
}  // namespace hodei::core
