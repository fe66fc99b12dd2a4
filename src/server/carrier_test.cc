// Effects on their way out: one message per worker and turn, specs from the cache or the store, ends to the logs.
#include "src/server/carrier.h"

#include "src/server/loop_fixture.h"

namespace hodei::server::carrier_test {
namespace {

using core::JobState;

class FakeLink final : public WorkerLink {
 public:
  void send(ToWorker message) override { messages.push_back(std::move(message)); }
  void close(const std::string& why) override { closed = why; }
  std::vector<ToWorker> messages;
  std::string closed;
};

class FakeLogs final : public LogEnds {
 public:
  void job_finished(JobId job, uint32_t last_execution) override { finished[job] = last_execution; }
  void execution_ended(ExecutionId execution, int64_t log_bytes) override { printed[execution] = log_bytes; }
  void execution_lost(ExecutionId execution) override { lost.push_back(execution); }
  std::map<JobId, uint32_t> finished;
  std::map<ExecutionId, int64_t> printed;
  std::vector<ExecutionId> lost;
};

core::JobPtr job_in(JobState state, uint64_t id = 1) {
  auto head = std::make_shared<core::JobHead>();
  head->id = JobId{id};
  head->state = state;
  head->executions = 3;
  return head;
}

class CarrierTest : public ::testing::Test {
 protected:
  CarrierTest() {
    stream_ = links_.add(link_);
    other_stream_ = links_.add(other_);
  }
  static core::PutSpec spec_of(uint64_t job) {
    auto spec = std::make_shared<core::SpecRow>();
    spec->job = JobId{job};
    spec->bytes = "bytes";
    return {spec};
  }
  void carry(core::Turn turn) { carrier_.carry_out(turn, store::Epoch{9}); }

  std::shared_ptr<FakeLink> link_ = std::make_shared<FakeLink>();
  std::shared_ptr<FakeLink> other_ = std::make_shared<FakeLink>();
  uint64_t stream_ = 0;
  uint64_t other_stream_ = 0;
  WorkerLinks links_;
  EventHub events_;
  FakeLogs logs_;
  Carrier carrier_{links_, events_, logs_};
};

TEST_F(CarrierTest, PutsAllThatATurnHasForAWorkerIntoOneMessage) {
  core::Turn turn;
  turn.writes = {spec_of(1), spec_of(2)};
  turn.effects = {core::RunExecution{WorkerId("w1"), stream_, {JobId{1}, 1}, 1},
                  core::RunExecution{WorkerId("w2"), other_stream_, {JobId{2}, 1}, 1},
                  core::AckResult{WorkerId("w1"), stream_, {JobId{3}, 1}},
                  core::CancelExecution{WorkerId("w1"), stream_, {JobId{4}, 1}, true, 5s},
                  core::TellDrain{WorkerId("w1"), stream_, "upgrade"}};
  carry(std::move(turn));
  ASSERT_EQ(link_->messages.size(), 1u);
  const ToWorker& message = link_->messages[0];
  EXPECT_EQ(message.epoch, 9u);
  EXPECT_EQ(message.run.at(0).spec->bytes, "bytes");
  EXPECT_EQ(message.results, std::vector{(ExecutionId{JobId{3}, 1})});
  EXPECT_TRUE(message.cancel.at(0).timed_out);
  EXPECT_EQ(message.drain, "upgrade");
  EXPECT_EQ(other_->messages.size(), 1u);
}

TEST_F(CarrierTest, TellsTheLogsHowMuchAnExecutionPrinted) {
  auto past = std::make_shared<core::Past>();
  past->executions.push_back({.number = 1, .log_bytes = 5});
  past->executions.push_back({.number = 2, .log_bytes = 0});
  auto head = std::make_shared<core::JobHead>(*job_in(JobState::Succeeded));
  head->past = past;
  auto silent = std::make_shared<core::JobHead>(*job_in(JobState::Running, 2));
  auto unknown = std::make_shared<core::Past>();
  unknown->executions.push_back({.number = 1});
  silent->past = unknown;
  core::Turn turn;
  turn.effects = {core::JobMoved{head, 1}, core::JobMoved{silent, 1}};
  carry(std::move(turn));
  EXPECT_EQ(logs_.printed, (std::map<ExecutionId, int64_t>{{{JobId{1}, 2}, 0}}));
}

TEST_F(CarrierTest, WelcomesWithTheLogsWhosePlaceIsToBeLookedUp) {
  core::Turn turn;
  const ExecutionId held{JobId{1}, 1};
  turn.effects = {core::WelcomeWorker{WorkerId("w1"), stream_, {{JobId{2}, 1}}, {held}}};
  carry(std::move(turn));
  const ToWorker::Welcome& welcome = *link_->messages.at(0).welcome;
  EXPECT_EQ(welcome.unknown.size(), 1u);
  EXPECT_EQ(welcome.logs.at(0).execution, held);
  EXPECT_EQ(welcome.logs.at(0).offset, LogPosition::kUnknown);
}

TEST_F(CarrierTest, LeavesASpecThatIsNotInItsCacheToTheWriterOfTheOrder) {
  core::Turn turn;
  turn.effects = {core::RunExecution{WorkerId("w1"), stream_, {JobId{1}, 1}, 1}};
  carry(std::move(turn));
  ASSERT_EQ(link_->messages.at(0).run.size(), 1u);
  EXPECT_EQ(link_->messages[0].run[0].spec, nullptr);
  EXPECT_TRUE(link_->closed.empty());
}

TEST_F(CarrierTest, TellsTheLogsWhatHasEndedAndWhatIsLost) {
  core::Turn turn;
  turn.effects = {core::JobMoved{job_in(JobState::Running, 1), 0}, core::JobMoved{job_in(JobState::Failed, 2), 0},
                  core::ExecutionLost{{JobId{3}, 2}}};
  carry(std::move(turn));
  EXPECT_EQ(logs_.finished, (std::map<JobId, uint32_t>{{JobId{2}, 3}}));
  EXPECT_EQ(logs_.lost, std::vector{(ExecutionId{JobId{3}, 2})});
}

TEST_F(CarrierTest, ClosesADroppedStreamAndSpeaksToNoneThatIsGone) {
  links_.remove(other_stream_);
  core::Turn turn;
  turn.effects = {core::DropStream{WorkerId("w1"), stream_, "silent"},
                  core::AckResult{WorkerId("w2"), other_stream_, {}}};
  carry(std::move(turn));
  EXPECT_EQ(link_->closed, "silent");
  EXPECT_TRUE(other_->messages.empty());
}

TEST_F(CarrierTest, ClosesEveryStreamWhenMemoryWasLoadedAgain) {
  carrier_.forget_streams("reload");
  EXPECT_EQ(link_->closed, "reload");
  EXPECT_EQ(other_->closed, "reload");
}

TEST(WorkerLinksTest, NeverGivesANumberTwice) {
  WorkerLinks links;
  const uint64_t first = links.add(std::make_shared<FakeLink>());
  links.remove(first);
  EXPECT_NE(links.add(std::make_shared<FakeLink>()), first);
  EXPECT_EQ(links.size(), 1u);
}

TEST(EventHubTest, TellsAWatcherOfItsJobOnlyAndAWatcherOfAllEverything) {
  EventHub hub;
  std::vector<JobId> one;
  std::vector<JobId> all;
  hub.watch_job(JobId{1}, [&](const auto& event) { one.push_back(event->job->id); });
  hub.watch_all([&](const auto& event) { all.push_back(event->job->id); });
  hub.publish({job_in(JobState::Running, 1), 0, false});
  hub.publish({job_in(JobState::Running, 2), 0, false});
  EXPECT_EQ(one, std::vector{JobId{1}});
  EXPECT_EQ(all, (std::vector{JobId{1}, JobId{2}}));
}

TEST(EventHubTest, CallsNobodyAfterUnwatch) {
  EventHub hub;
  int calls = 0;
  const uint64_t gone = hub.watch_job(JobId{1}, [&](const auto&) { calls += 100; });
  hub.watch_job(JobId{1}, [&](const auto&) { ++calls; });
  hub.unwatch(gone);
  hub.unwatch(gone);
  hub.publish({job_in(JobState::Running, 1), 0, false});
  EXPECT_EQ(calls, 1);
}

TEST(EventHubTest, ForgetsTheWatchersOfAJobThatHasEnded) {
  EventHub hub;
  int calls = 0;
  hub.watch_job(JobId{1}, [&](const auto&) { ++calls; });
  hub.watch_job(JobId{2}, [&](const auto&) { calls += 10; });
  hub.publish({job_in(JobState::Succeeded, 1), 0, false});
  hub.publish({job_in(JobState::Succeeded, 1), 0, false});
  hub.publish({job_in(JobState::Running, 2), 0, false});
  EXPECT_EQ(calls, 11);
}

TEST(SpecCacheTest, DropsTheOldestWhenItIsFull) {
  SpecCache cache;
  const size_t size = SpecCache::kMaxBytes / 4;
  for (uint64_t id = 1; id <= 4; ++id) {
    auto spec = std::make_shared<core::SpecRow>();
    spec->job = JobId{id};
    spec->bytes = std::string(size, 'x');
    cache.put(spec);
  }
  EXPECT_EQ(cache.find(JobId{1}), nullptr);
  for (uint64_t id = 2; id <= 4; ++id) EXPECT_NE(cache.find(JobId{id}), nullptr) << id;
}

TEST(SpecCacheTest, HasRoomAgainForWhatWasDroppedOrReplaced) {
  SpecCache cache;
  for (int i = 0; i < 20; ++i) {
    auto spec = std::make_shared<core::SpecRow>();
    spec->job = JobId{1};
    spec->bytes = std::string(SpecCache::kMaxBytes / 2, 'x');
    cache.put(spec);
    EXPECT_EQ(cache.find(JobId{1}), spec);
    if (i % 2 == 0) cache.drop(JobId{1});
  }
}

}  // namespace
}  // namespace hodei::server::carrier_test
