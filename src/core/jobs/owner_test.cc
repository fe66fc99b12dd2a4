// Jobs that belong to a module: how they come, and that their module hears of their end.
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "src/core/engine_harness.h"

namespace hodei::core::owner_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr OwnerModule kToys{200};

// A module that wants one job for each of its toys, and another one after every failure.
class Toys final : public JobOwner {
 public:
  bool waits_for(const Owner& owner, uint32_t attempt) const override {
    const auto it = awaited.find(owner.id);
    return it != awaited.end() && it->second == attempt;
  }
  void job_came(const Owner& owner, uint32_t, const absl::StatusOr<JobId>& job, Turn&) override {
    awaited.erase(owner.id);
    came.push_back(job.ok() ? short_id(*job) : std::string(job.status().message()));
  }
  void job_ended(const Owner& owner, const JobHead& job, Turn& turn) override {
    ended.push_back(std::string(name(job.state)) + " " + std::to_string(owner.id));
    if (job.state != JobState::Failed) return;
    awaited[owner.id] = 2;
    turn.tell(PrepareJob{owner, 2, "bytes of the toy"});
  }

  std::map<uint64_t, uint32_t> awaited;  // attempts, by toy
  std::vector<std::string> came, ended;
};

class OwnedJobs : public testing::Test {
 protected:
  void SetUp() override { bench.engine().add_owner(kToys, toys); }

  static SubmitFor prepared(uint64_t toy, uint32_t attempt) {
    return {{kToys, toy}, attempt, a_job().idempotent("the same for all").made()};
  }

  Toys toys;
  Bench bench;
};

TEST_F(OwnedJobs, AJobComesOnceAndBelongsToWhoAskedForIt) {
  toys.awaited[7] = 1;
  const JobId job = bench.ask<Submitted>(prepared(7, 1)).jobs.at(0).job;
  EXPECT_EQ(bench.job(job).owner, (Owner{kToys, 7}));
  EXPECT_THAT(toys.came, ElementsAre(short_id(job)));
  EXPECT_EQ(bench.refused(prepared(7, 1)).code(), absl::StatusCode::kFailedPrecondition) << "the same again";
  EXPECT_EQ(bench.rows.jobs.size(), 1u);
  toys.awaited[8] = 1;
  EXPECT_NE(bench.ask<Submitted>(prepared(8, 1)).jobs.at(0).job, job) << "keys are for clients";
}

TEST_F(OwnedJobs, AJobThatNobodyWaitsForIsRefused) {
  toys.awaited[7] = 2;
  EXPECT_EQ(bench.refused(prepared(7, 1)).code(), absl::StatusCode::kFailedPrecondition) << "too late";
  EXPECT_EQ(bench.refused(prepared(9, 1)).code(), absl::StatusCode::kFailedPrecondition) << "not asked for";
  SubmitFor foreign = prepared(7, 2);
  foreign.owner.module = OwnerModule{201};
  EXPECT_EQ(bench.refused(foreign).code(), absl::StatusCode::kFailedPrecondition) << "no such module";
  EXPECT_THAT(toys.came, IsEmpty());
  EXPECT_TRUE(bench.rows.jobs.empty());
}

TEST_F(OwnedJobs, AJobThatCouldNotBeMadeReachesItsOwnerAsAFailure) {
  toys.awaited[7] = 1;
  bench.ask<Done>(SubmitFor{{kToys, 7}, 1, absl::InvalidArgumentError("command: must not be empty")});
  EXPECT_THAT(toys.came, ElementsAre("command: must not be empty"));
  EXPECT_FALSE(bench.decide(prepared(7, 1)).ok()) << "it was answered";
}

TEST_F(OwnedJobs, AJobForWhichThereIsNoRoomReachesItsOwnerAsAFailure) {
  EngineConfig config;
  config.max_live_jobs = 0;
  Bench full(config);
  full.engine().add_owner(kToys, toys);
  toys.awaited[7] = 1;
  full.ask<Done>(prepared(7, 1));
  EXPECT_THAT(toys.came, ElementsAre(HasSubstr("the queue is full")));
}

TEST_F(OwnedJobs, TheOwnerHearsOfTheEndInTheSameDecision) {
  toys.awaited[7] = 1;
  const JobId job = bench.ask<Submitted>(prepared(7, 1)).jobs.at(0).job;
  Hand worker = bench.worker("w1");
  worker.joins().takes(job);
  EXPECT_THAT(toys.ended, IsEmpty());
  worker.fails(job);
  EXPECT_THAT(toys.ended, ElementsAre("Failed 7"));
  ASSERT_EQ(bench.told<PrepareJob>().size(), 1u) << "in the batch of the end";
  EXPECT_EQ(bench.told<PrepareJob>()[0].owner, (Owner{kToys, 7}));
  const JobId second = bench.ask<Submitted>(prepared(7, 2)).jobs.at(0).job;
  EXPECT_EQ(bench.cancel(second), JobState::Scheduled);
  worker.finishes(second, Outcome::Cancelled);
  EXPECT_THAT(toys.ended, ElementsAre("Failed 7", "Cancelled 7"));
}

TEST_F(OwnedJobs, AJobThatWillBeTriedAgainHasNotEnded) {
  toys.awaited[7] = 1;
  SubmitFor command = prepared(7, 1);
  std::get<NewJob>(command.job).head.max_attempts = 2;
  const JobId job = bench.ask<Submitted>(command).jobs.at(0).job;
  bench.worker("w1").joins().takes(job).fails(job);
  EXPECT_THAT(toys.ended, IsEmpty());
}

TEST_F(OwnedJobs, TheOwnerIsKeptOverARestart) {
  toys.awaited[7] = 1;
  const JobId job = bench.ask<Submitted>(prepared(7, 1)).jobs.at(0).job;
  bench.restart();
  bench.engine().add_owner(kToys, toys);
  bench.cancel(job);
  EXPECT_THAT(toys.ended, ElementsAre("Cancelled 7"));
}

TEST_F(OwnedJobs, APlainJobBelongsToNobody) {
  const JobId job = bench.submit(a_job());
  EXPECT_FALSE(bench.job(job).owner.is_set());
  bench.cancel(job);
  EXPECT_THAT(toys.ended, IsEmpty());
}

}  // namespace
}  // namespace hodei::core::owner_test
