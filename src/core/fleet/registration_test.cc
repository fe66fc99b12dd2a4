// Tokens, sessions, draining and leaving (docs/semantics.md#worker-states).
#include "src/core/engine_harness.h"

namespace hodei::core::registration_test {
namespace {

RegisterWorker with_token(const std::string& token, const std::string& worker, std::string incarnation = "i1") {
  RegisterWorker c;
  c.otp = hash128(token);
  c.new_session = hash128(token + worker + incarnation);
  c.info = a_worker().info;
  c.info.id = WorkerId(worker);
  c.incarnation = std::move(incarnation);
  return c;
}

void make_token(Bench& bench, const std::string& token, const std::string& worker) {
  bench.ask<OtpMade>(MakeOtp{hash128(token), WorkerId(worker)});
}

TEST(Token, IsGoodOnce) {
  Bench bench;
  make_token(bench, "t", "w1");
  bench.ask<Registered>(with_token("t", "w1"));
  EXPECT_TRUE(bench.rows.otps.empty());
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(with_token("t", "w1", "another incarnation"))));
}

TEST(Token, IsGoodForFiveMinutes) {
  for (const auto& [wait, good] : {std::pair(Duration(299s), true), std::pair(Duration(301s), false)}) {
    Bench bench;
    make_token(bench, "t", "w1");
    bench.advance(wait);
    EXPECT_EQ(bench.decide(with_token("t", "w1")).ok(), good);
  }
}

TEST(Token, IsGoodForAsLongAsTheSettingSays) {
  EngineConfig config;
  config.otp_life = 30s;
  for (const auto& [wait, good] : {std::pair(Duration(29s), true), std::pair(Duration(31s), false)}) {
    Bench bench(config);
    make_token(bench, "t", "w1");
    bench.advance(wait);
    EXPECT_EQ(bench.decide(with_token("t", "w1")).ok(), good);
  }
}

TEST(Token, IsRefusedWhenThereAreTooManyAndItIsSaidHowLongTheyLive) {
  EngineConfig config;
  config.otp_life = 90s;
  config.max_otps = 1;
  Bench bench(config);
  make_token(bench, "t", "w1");
  const absl::Status status = bench.refused(MakeOtp{hash128("u"), WorkerId("w2")});
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_NE(status.message().find("wait until they expire (90 s)"), std::string::npos) << status;
}

TEST(Token, IsRemovedWhenItHasExpired) {
  Bench bench;
  make_token(bench, "t", "w1");
  bench.advance(302s);
  EXPECT_TRUE(bench.rows.otps.empty());
}

TEST(Token, IsRefusedWithOneTextWhateverIsWrongWithIt) {
  Bench bench;
  make_token(bench, "used", "w1");
  make_token(bench, "others", "w2");
  bench.ask<Registered>(with_token("used", "w1"));
  std::set<std::string> texts;
  for (const RegisterWorker& c :
       {with_token("wrong", "w1"), with_token("used", "w1", "i2"), with_token("others", "w1")}) {
    const absl::Status status = bench.refused(c);
    EXPECT_TRUE(absl::IsUnauthenticated(status));
    texts.insert(std::string(status.message()));
  }
  RegisterWorker none = with_token("x", "w1");
  none.otp.reset();
  texts.insert(std::string(bench.refused(none).message()));
  EXPECT_EQ(texts.size(), 1u);
  bench.ask<Registered>(with_token("others", "w2"));
}

TEST(Token, MayBeUsedAgainByTheSameIncarnationWhoseAnswerWasLost) {
  EngineConfig patient;
  patient.registration_limit = std::chrono::minutes(10);  // longer than a token lives
  Bench bench(patient);
  make_token(bench, "t", "w1");
  bench.ask<Registered>(with_token("t", "w1", "i1"));
  bench.advance(400s);
  RegisterWorker again = with_token("t", "w1", "i1");
  again.new_session = hash128("second answer");
  bench.ask<Registered>(again);
  bench.ask<StreamOpened>(OpenStream{again.new_session, "i1", 1, {}});
}

TEST(Token, UsedAgainLateLeavesAWorkerAloneWhoseStreamIsOpen) {
  Bench bench;
  make_token(bench, "t", "w1");
  const RegisterWorker call = with_token("t", "w1", "i1");
  bench.ask<Registered>(call);
  bench.ask<StreamOpened>(OpenStream{call.new_session, "i1", 1, {}});
  bench.ask<Registered>(call);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Ready);
}

TEST(Token, HasOneWinnerOfFiftyThatTryIt) {
  Bench bench;
  make_token(bench, "t", "w1");
  int winners = 0;
  for (int i = 0; i < 50; ++i) winners += bench.decide(with_token("t", "w1", cat("i", i))).ok();
  EXPECT_EQ(winners, 1);
}

TEST(Token, IsStillUsedAfterARestart) {
  Bench bench;
  make_token(bench, "t", "w1");
  make_token(bench, "fresh", "w2");
  bench.ask<Registered>(with_token("t", "w1"));
  bench.restart();
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(with_token("t", "w1", "i2"))));
  bench.ask<Registered>(with_token("fresh", "w2"));
}

TEST(Token, ForNobodyInParticularLetsOneNewWorkerIn) {
  Bench bench;
  make_token(bench, "t", "");
  bench.ask<Registered>(with_token("t", "w1"));
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(with_token("t", "w2", "i2"))));
}

TEST(Token, ForNobodyInParticularDoesNotTakeOverSomebodysName) {
  Bench bench;
  make_token(bench, "first", "w1");
  make_token(bench, "t", "");
  bench.ask<Registered>(with_token("first", "w1"));
  EXPECT_TRUE(absl::IsAlreadyExists(bench.refused(with_token("t", "w1", "i2"))));
  bench.ask<Registered>(with_token("t", "w2"));
}

TEST(Token, IsOnlyMadeForAWorkerIdThatIsAName) {
  Bench bench;
  for (const char* bad : {"../x", "-v", "a b", "a\nb"}) {
    const absl::Status status = bench.refused(MakeOtp{hash128("t"), WorkerId(bad)});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad;
    EXPECT_NE(status.message().find("worker_id"), std::string::npos) << status;
  }
}

TEST(Registration, ChecksWhatTheWorkerSaysOfItself) {
  Bench bench;
  make_token(bench, "t", "w1");
  RegisterWorker none = with_token("t", "w1");
  none.info.slots = 0;
  EXPECT_NE(bench.refused(none).message().find("info.slots"), std::string::npos);
  RegisterWorker negative = with_token("t", "w1");
  negative.info.capacity.memory_mb = -1;
  EXPECT_NE(bench.refused(negative).message().find("info.capacity"), std::string::npos);
  RegisterWorker huge = with_token("t", "w1");
  huge.info.capacity.cpu_milli = INT64_MAX;
  EXPECT_NE(bench.refused(huge).message().find("1099511627 cores"), std::string::npos);
  RegisterWorker label = with_token("t", "w1");
  label.info.labels[""] = "x";
  EXPECT_NE(bench.refused(label).message().find("info.labels"), std::string::npos);
  RegisterWorker isolation = with_token("t", "w1");
  isolation.info.isolation = static_cast<Isolation>(255);
  EXPECT_NE(bench.refused(isolation).message().find("info.isolation"), std::string::npos);
  RegisterWorker taint = with_token("t", "w1");
  taint.info.taints.push_back({"odd", "", static_cast<TaintEffect>(255)});
  EXPECT_NE(bench.refused(taint).message().find("info.taints"), std::string::npos);
  bench.ask<Registered>(with_token("t", "w1"));
}

TEST(Registration, IsRefusedWhenThereAreTooManyWorkers) {
  EngineConfig config;
  config.max_workers = 1;
  Bench bench(config);
  bench.worker("w1").joins();
  make_token(bench, "t", "w2");
  EXPECT_TRUE(absl::IsResourceExhausted(bench.refused(with_token("t", "w2"))));
  make_token(bench, "t1", "w1");
  bench.ask<Registered>(with_token("t1", "w1"));
}

TEST(Session, BringsAWorkerBackWithoutANewToken) {
  Bench bench;
  bench.worker("w1").joins().closes();
  RegisterWorker again = with_token("none", "w1", "i2");
  again.otp.reset();
  again.session = bench.sessions["w1"];
  again.info.slots = 7;
  bench.ask<Registered>(again);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->info.slots, 7u);
  bench.worker("w1").returns();
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Ready);
}

TEST(Session, BelongsToOneWorkerId) {
  Bench bench;
  bench.worker("w1").joins();
  bench.worker("w2").joins();
  RegisterWorker other = with_token("none", "w2");
  other.otp.reset();
  other.session = bench.sessions["w1"];
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(other)));
  other.session = hash128("stranger");
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(other)));
}

TEST(Session, IsFoundUntilTheWorkerIsGone) {
  Bench bench;
  bench.worker("w1").joins();
  const Question question = FindSession{bench.sessions["w1"]};
  EXPECT_EQ(bench.ask<Registered>(question).worker, WorkerId("w1"));
  bench.ask<Done>(UnregisterWorker{WorkerId("w1"), ""});
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(question)));
  EXPECT_TRUE(absl::IsUnauthenticated(bench.refused(OpenStream{bench.sessions["w1"], "i", 50, {}})));
}

TEST(Worker, KeepsItsExecutionsWhenItRegistersAnew) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins(2).takes(job);
  make_token(bench, "t", "w1");
  RegisterWorker anew = with_token("t", "w1", "i2");
  anew.lineage = "folder-of-w1";  // a later start on the same state folder
  anew.generation = 100;
  anew.info.slots = 2;
  bench.ask<Registered>(anew);
  bench.sessions["w1"] = anew.new_session;
  bench.restart();
  EXPECT_EQ(bench.state(job), JobState::Running);
  bench.worker("w1").returns({{bench.current(job), true, false}});
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Busy);
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Ready);
}

TEST(Drain, LetsAWorkerFinishWhatItHasAndGivesItNothingNew) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins(2).takes(job);
  EXPECT_EQ(bench.ask<Drained>(DrainWorker{WorkerId("w1"), "upgrade"}).executions_left, 1u);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Draining);
  EXPECT_EQ(bench.told<TellDrain>().back().reason, "upgrade");
  const JobId waiting = bench.submit(a_job());
  EXPECT_EQ(bench.state(waiting), JobState::Pending);
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Terminating);
  EXPECT_EQ(bench.state(waiting), JobState::Pending);
  bench.worker("w1").closes();
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Terminated);
}

TEST(Drain, OfAnIdleWorkerEndsItAtOnce) {
  Bench bench;
  bench.worker("w1").joins();
  EXPECT_EQ(bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""}).executions_left, 0u);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Terminating);
}

TEST(Drain, IsToldAgainAfterAReconnectAndARestart) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins(2).takes(job);
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
  bench.restart();
  bench.effects.clear();
  bench.worker("w1").returns({{bench.current(job), true, false}});
  EXPECT_EQ(bench.told<TellDrain>().size(), 1u);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Draining);
}

TEST(Undrain, LetsAWorkerThatStillRunsSomethingTakeWorkAgain) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins(2).takes(job);
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
  const JobId waiting = bench.submit(a_job());
  EXPECT_EQ(bench.state(waiting), JobState::Pending);
  bench.ask<WorkerViews>(UndrainWorker{WorkerId("w1")});
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Busy);
  EXPECT_TRUE(bench.told<TellDrain>().back().is_over);
  EXPECT_EQ(bench.state(waiting), JobState::Scheduled) << "it gets what waited at once";
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->info.end_reason, "") << "it has not ended";
  bench.worker("w1").finishes(job);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Busy) << "it does not leave";
  bench.effects.clear();
  bench.ask<WorkerViews>(UndrainWorker{WorkerId("w1")});
  EXPECT_TRUE(bench.told<TellDrain>().empty()) << "a worker that takes work is left as it is";
}

TEST(Undrain, IsRefusedOfAWorkerThatHasLeftOrThatNobodyKnows) {
  Bench bench;
  bench.worker("w1").joins();
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
  const absl::Status gone = bench.refused(UndrainWorker{WorkerId("w1")});
  EXPECT_NE(gone.message().find("is Terminating and cannot take jobs again"), std::string::npos) << gone;
  EXPECT_TRUE(absl::IsNotFound(bench.refused(UndrainWorker{WorkerId("nobody")})));
}

TEST(Drain, EndsWhenTheLastExecutionIsLost) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
  bench.worker("w1").goes_silent();
  bench.advance(46s);
  EXPECT_EQ(bench.worker("w1").live().state, WorkerState::Terminating);
}

TEST(Drain, MayBeAskedForTwiceButNotOfAWorkerThatIsGone) {
  Bench bench;
  bench.worker("w1").joins();
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
  bench.ask<Drained>(DrainWorker{WorkerId("w1"), ""});
  bench.worker("w1").closes();
  const absl::Status status = bench.refused(DrainWorker{WorkerId("w1"), ""});
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_NE(status.message().find("is Terminated and cannot be drained"), std::string::npos) << status;
  EXPECT_TRUE(absl::IsNotFound(bench.refused(DrainWorker{WorkerId("nobody"), ""})));
}

TEST(Unregister, LeadsThroughTerminatingToTerminated) {
  Bench bench;
  bench.worker("w1").joins();
  bench.ask<Done>(UnregisterWorker{WorkerId("w1"), ""});
  std::vector<WorkerState> path;
  for (const Write& write : bench.last.writes) {
    if (const auto* put = std::get_if<Put<WorkerRecord>>(&write)) path.push_back(put->row->state);
  }
  EXPECT_EQ(path, (std::vector{WorkerState::Terminating, WorkerState::Terminated}));
  EXPECT_EQ(bench.told<DropStream>().size(), 1u);
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Unregister, OfAWorkerLeavesTheBeginningOfItsIdToOthers) {
  Bench bench;
  bench.worker("build-1").joins();
  bench.ask<Done>(UnregisterWorker{WorkerId("build-1"), ""});
  bench.worker("build-2").joins();
  const auto found = bench.ask<WorkerViews>(Question(DescribeWorkers{"build", true})).workers;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].record->info.id, WorkerId("build-2"));
}

TEST(Unregister, IsRefusedWhileExecutionsMayRun) {
  Bench bench;
  const JobId job = bench.submit(a_job());
  bench.worker("w1").joins().takes(job);
  EXPECT_NE(bench.refused(UnregisterWorker{WorkerId("w1"), ""}).message().find("drain it first"), std::string::npos);
  bench.worker("w1").closes();
  EXPECT_NE(bench.refused(UnregisterWorker{WorkerId("w1"), ""}).message().find("is disconnected"), std::string::npos);
  bench.advance(46s);
  bench.ask<Done>(UnregisterWorker{WorkerId("w1"), ""});
  EXPECT_TRUE(absl::IsNotFound(bench.refused(UnregisterWorker{WorkerId("w1"), ""})));
}

TEST(Unregister, ByItselfGivesItsWorkBackAtOnce) {
  Bench bench;
  Hand worker = bench.worker("w1").joins(3);
  const JobId runs = bench.submit(a_job());
  const JobId sent = bench.submit(a_job());
  const JobId unwanted = bench.submit(a_job());
  worker.takes(runs).takes(unwanted);
  bench.cancel(unwanted);
  bench.ask<Done>(UnregisterWorker{WorkerId("w1"), "sold", true});
  EXPECT_EQ(bench.state(runs), JobState::Pending);
  EXPECT_EQ(bench.job(runs).attempts, 0u) << "it was not let finish";
  EXPECT_EQ(bench.state(sent), JobState::Pending);
  EXPECT_EQ(bench.state(unwanted), JobState::Cancelled);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->state, WorkerState::Terminated);
  EXPECT_EQ(bench.rows.workers.at(WorkerId("w1"))->info.end_reason, "it unregistered: sold");
  bench.worker("w2").joins(3);
  EXPECT_EQ(bench.where(runs), "w2") << "at once";
}

TEST(Unregister, OfAWorkerThatIsAwayByItselfToo) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  worker.takes(job).closes();
  bench.ask<Done>(UnregisterWorker{WorkerId("w1"), "", true});
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Unregister, OfAnEarlierStartDoesNotConcernALaterOne) {
  Bench bench;
  Hand worker = bench.worker("w1").joins();
  const std::string earlier = parse_incarnation(bench.rows.workers.at(worker.id())->incarnation).id;
  worker.restarts();
  const JobId job = bench.submit(a_job());
  worker.takes(job);
  UnregisterWorker late{worker.id(), "", true};
  late.incarnation = earlier;
  EXPECT_TRUE(absl::IsAborted(bench.refused(late)));
  EXPECT_EQ(bench.state(job), JobState::Running) << "the later start runs it";
  late.incarnation = parse_incarnation(bench.rows.workers.at(worker.id())->incarnation).id;
  bench.ask<Done>(late);
  EXPECT_EQ(bench.state(job), JobState::Pending);
}

TEST(Unregister, LeavesNothingBehindAfterAnHour) {
  Bench bench;
  bench.worker("w1").joins();
  bench.ask<Done>(UnregisterWorker{WorkerId("w1"), ""});
  bench.beating.clear();
  bench.advance(std::chrono::minutes(59));
  EXPECT_EQ(bench.rows.workers.size(), 1u);
  bench.advance(std::chrono::minutes(2));
  EXPECT_TRUE(bench.rows.workers.empty());
}

}  // namespace
}  // namespace hodei::core::registration_test
