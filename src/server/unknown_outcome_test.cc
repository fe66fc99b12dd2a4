// A commit that seemed to fail was applied, and ended a job: whoever follows the job hears of it after the reload.
#include "src/base/status.h"
#include "src/server/carrier.h"
#include "src/server/logs/log_hub_fixture.h"
#include "src/server/loop_fixture.h"

namespace hodei::server::unknown_outcome_test {
namespace {

using store::CommitFault;

class HubEnds final : public LogEnds {
 public:
  explicit HubEnds(LogHub& hub) : hub_(hub) {}
  void job_finished(JobId job, uint32_t last_execution) override { hub_.job_finished(job, last_execution); }
  void execution_ended(ExecutionId execution, int64_t bytes) override { hub_.execution_ended(execution, bytes); }
  void execution_lost(ExecutionId execution) override { hub_.execution_lost(execution); }

 private:
  LogHub& hub_;
};

// A job runs on w1, and its result comes with a commit whose answer is lost.
class UnknownOutcome : public ::testing::Test {
 protected:
  UnknownOutcome() {
    EXPECT_TRUE(core_.take_over().ok());
    core::WorkerInfo info;
    info.id = WorkerId("w1");
    info.capabilities = {"script", "shell"};
    EXPECT_TRUE(ask(core::MakeOtp{hash128("t"), info.id}).ok());
    EXPECT_TRUE(ask(core::RegisterWorker{hash128("t"), {}, hash128("s"), info, "i"}).ok());
    EXPECT_TRUE(ask(core::OpenStream{hash128("s"), "i", 1, {}}).ok());
    job_ = std::get<core::Submitted>(*ask(core::Submit{{job_order()}})).jobs[0].job;
    EXPECT_TRUE(ask(core::Report{.worker = WorkerId("w1"), .stream = 1, .started = {{run()}}}).ok());
    hub_.start();
  }
  ~UnknownOutcome() override { hub_.stop(); }

  ExecutionId run() const { return {job_, 1}; }
  absl::StatusOr<core::Reply> ask(core::Command command) {
    absl::StatusOr<core::Reply> answer = absl::InternalError("no reply came");
    std::vector<Waiting> waiting;
    waiting.push_back({std::move(command), [&](absl::StatusOr<core::Reply> reply) { answer = std::move(reply); }});
    core_.turn(std::move(waiting));
    return answer;
  }
  // The job has ended, and the commit of it suffers this.
  void end_job(CommitFault fault) {
    store_.memory.fail_next_commit(fault);
    core::ResultReport result;
    result.execution = run();
    result.outcome = core::Outcome::Succeeded;
    result.log_bytes = 0;
    EXPECT_FALSE(ask(core::Report{.worker = WorkerId("w1"), .stream = 1, .results = {result}}).ok());
    ASSERT_FALSE(core_.ready());
    core_.turn({});
    ASSERT_TRUE(core_.ready());
  }
  absl::StatusOr<std::optional<JobEnd>> end_of(JobId job) {
    const absl::StatusOr<store::JobView> view = store_.memory.job(job);
    RETURN_IF_ERROR(view.status());
    JobEnd end;
    end.finished = core::is_terminal(view->head.state);
    end.last_execution = view->head.executions;
    end.finished_at = view->ended;
    return std::optional<JobEnd>(end);
  }

  SteppedClock clock_;
  WatchedStore store_{clock_};
  store::MemoryLogStore log_store_;
  LogHub hub_{log_store_, [this](JobId job) { return end_of(job); }, clock_};
  HubEnds ends_{hub_};
  WorkerLinks links_;
  EventHub events_;
  Carrier carrier_{links_, events_, ends_};
  Heartbeats beats_{clock_};
  LedStore led_{store_, clock_};
  LoopCore core_{led_.tenure, clock_, carrier_, beats_};
  JobId job_{};
};

TEST_F(UnknownOutcome, AWatcherHearsOfAnEndThatWasApplied) {
  std::vector<core::JobState> seen;
  events_.watch_job(job_, [&](const auto& event) { seen.push_back(event->job->state); });
  end_job(CommitFault::LostAfter);
  EXPECT_EQ(seen, std::vector{core::JobState::Succeeded});
}

TEST_F(UnknownOutcome, AFollowerOfItsOutputComesToTheEnd) {
  Reader follower(hub_, {.job = job_, .follow = true});
  ASSERT_EQ(follower.step(), Subscription::Next::Wait);
  end_job(CommitFault::LostAfter);
  EXPECT_TRUE(follower.read_to_close());
  EXPECT_TRUE(follower.status().ok()) << follower.status();
}

TEST_F(UnknownOutcome, NobodyHearsOfAnEndThatWasNotApplied) {
  int events = 0;
  events_.watch_job(job_, [&](const auto&) { ++events; });
  Reader follower(hub_, {.job = job_, .follow = true});
  ASSERT_EQ(follower.step(), Subscription::Next::Wait);
  end_job(CommitFault::LostBefore);
  EXPECT_EQ(events, 0);
  EXPECT_EQ(follower.step(), Subscription::Next::Wait);
}

TEST_F(UnknownOutcome, IsToldOnceHoweverOftenTheStoreIsLoaded) {
  int events = 0;
  events_.watch_all([&](const auto& event) { events += core::is_terminal(event->job->state); });
  end_job(CommitFault::LostAfter);
  store_.memory.fail_next_commit(CommitFault::LostBefore);
  EXPECT_FALSE(ask(core::Submit{{job_order()}}).ok());
  EXPECT_TRUE(ask(core::Submit{{job_order()}}).ok());
  EXPECT_EQ(events, 1);
}

}  // namespace
}  // namespace hodei::server::unknown_outcome_test
