#include "src/server/job_sweeper.h"

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "src/server/retention_clock.h"
#include "src/store/conformance/samples.h"
#include "src/store/memory/memory_store.h"

namespace hodei::server::job_sweeper_test {
namespace {

using store::a_job;

constexpr Duration kDay = std::chrono::hours(24);

class JumpingClock final : public Clock {
 public:
  Now now() const override {
    return {{1'800'000'000'000'000 + (elapsed_ + jumped_).count()}, {1'000'000'000 + elapsed_.count()}};
  }
  void advance(Duration by) { elapsed_ += by; }
  void jump(Duration by) { jumped_ += by; }

 private:
  Duration elapsed_{0}, jumped_{0};
};

class JobSweeperTest : public testing::Test {
 protected:
  JobSweeperTest() {
    epoch_ = store_.new_epoch().value();
    char name[] = "/tmp/hodei-sweeper-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~JobSweeperTest() override {
    if (sweeper_ != nullptr) sweeper_->stop();
    std::filesystem::remove_all(folder_);
  }

  void add_finished(uint64_t number, WallTime ended, const std::string& ns = "default") {
    commit(finished_job(number, ended, ns));
  }

  static core::Writes finished_job(uint64_t number, WallTime ended, const std::string& ns = "default") {
    core::JobHead job = a_job(number);
    job.ns = Namespace(ns);
    job.created = ended - 1us;
    core::Writes writes = store::entering(job);
    writes.push_back(store::finished(store::moved(job, core::JobState::Cancelled)));
    return writes;
  }

  void commit(const core::Writes& writes) {
    const auto last = static_cast<uint64_t>(store_.last_batch().value());
    ASSERT_EQ(store_.commit(writes, epoch_, store::BatchNo{last + 1}), absl::OkStatus());
  }

  void keep(JobRetention retention) {
    const auto forget = [this](const core::ForgetJobs& command, const ReplyTo& reply) {
      core::Writes writes;
      for (const core::ForgetJobs::One& one : command.jobs) writes.push_back(core::EraseJob{one.job});
      commit(writes);
      reply(core::Reply(core::Forgotten{}));
    };
    aging_ = std::make_unique<RetentionClock>(folder_, clock_, "this-boot");
    sweeper_ = std::make_unique<JobSweeper>(store_, forget, *aging_, retention);
    sweeper_->start();
  }

  size_t left() { return store_.tables().done.size(); }
  WallTime now() const { return clock_.now().wall; }

  store::MemoryStore store_;
  store::Epoch epoch_{};
  JumpingClock clock_;
  std::string folder_;
  std::unique_ptr<RetentionClock> aging_;
  std::unique_ptr<JobSweeper> sweeper_;
};

TEST_F(JobSweeperTest, LetsGoOfWhatIsTooOldOnceTheGraceIsOver) {
  for (uint64_t n = 1; n <= 10; ++n) add_finished(n, now() - kDay * static_cast<int>(10 - n));
  keep({.max_age = kDay * 5, .max_jobs = 0});
  EXPECT_EQ(sweeper_->sweep().value(), 0) << "the wall clock may not have been set yet";
  clock_.advance(JobSweeper::kGrace + 1s);
  EXPECT_EQ(sweeper_->sweep().value(), 5);
  EXPECT_EQ(left(), 5u);
  EXPECT_FALSE(store_.job(JobId{5}).ok());
  EXPECT_TRUE(store_.job(JobId{6}).ok());
}

TEST_F(JobSweeperTest, AWallClockThatJumpsMakesNothingOlder) {
  for (uint64_t n = 1; n <= 10; ++n) add_finished(n, now());
  keep({.max_age = kDay, .max_jobs = 0});
  clock_.advance(JobSweeper::kGrace + 1s);
  clock_.jump(kDay * 730);
  EXPECT_EQ(sweeper_->sweep().value(), 0);
  EXPECT_EQ(left(), 10u);
}

TEST_F(JobSweeperTest, AServerThatStartsWithAClockYearsAheadKeepsItsHistory) {
  for (uint64_t n = 1; n <= 10; ++n) add_finished(n, now());
  RetentionClock(folder_, clock_, "this-boot").save();
  clock_.jump(kDay * 730);
  keep({.max_age = kDay, .max_jobs = 0});
  clock_.advance(JobSweeper::kGrace + 1s);
  EXPECT_EQ(sweeper_->sweep().value(), 0);
  EXPECT_EQ(left(), 10u);
}

TEST_F(JobSweeperTest, OneSweepLetsGoOfALimitedShare) {
  for (uint64_t n = 1; n <= 1200; ++n) add_finished(n, now() - kDay * 2);
  keep({.max_age = kDay, .max_jobs = 0});
  clock_.advance(JobSweeper::kGrace + 1s);
  EXPECT_EQ(sweeper_->sweep().value(), 1200 / JobSweeper::kShareByAge);
  EXPECT_EQ(sweeper_->sweep().value(), 1188 / JobSweeper::kShareByAge);
}

TEST_F(JobSweeperTest, OfASmallHistoryOneSweepTakesAFew) {
  for (uint64_t n = 1; n <= 25; ++n) add_finished(n, now() - kDay * 2);
  keep({.max_age = kDay, .max_jobs = 0});
  clock_.advance(JobSweeper::kGrace + 1s);
  EXPECT_EQ(sweeper_->sweep().value(), JobSweeper::kAlwaysByAge);
  EXPECT_EQ(sweeper_->sweep().value(), JobSweeper::kAlwaysByAge);
  EXPECT_EQ(sweeper_->sweep().value(), 5);
}

// Those before them took long, and ended only now.
TEST_F(JobSweeperTest, FindsOldJobsBehindMoreThanOneSweepLooksAtAgainAndAgain) {
  core::Writes many;
  for (uint64_t n = 1; n <= JobSweeper::kLooks; ++n) {
    for (core::Write& write : finished_job(n, now())) many.push_back(std::move(write));
  }
  commit(many);
  keep({.max_age = kDay, .max_jobs = 0});
  clock_.advance(JobSweeper::kGrace + 1s);
  for (const uint64_t behind : {2, 1}) {
    add_finished(JobSweeper::kLooks + behind, now() - kDay * 2);
    int64_t gone = 0;
    for (int sweeps = 0; sweeps < 4; ++sweeps) gone += sweeper_->sweep().value();
    EXPECT_EQ(gone, 1);
    EXPECT_FALSE(store_.job(JobId{JobSweeper::kLooks + behind}).ok()) << behind;
  }
  EXPECT_EQ(left(), JobSweeper::kLooks);
}

TEST_F(JobSweeperTest, KeepsTheNewestOfEachNamespace) {
  for (uint64_t n = 1; n <= 9; ++n) add_finished(n, now(), n % 3 == 0 ? "few" : "many");
  keep({.max_age = Duration(0), .max_jobs = 4});
  EXPECT_EQ(sweeper_->sweep().value(), 2);
  EXPECT_FALSE(store_.job(JobId{1}).ok());
  EXPECT_FALSE(store_.job(JobId{2}).ok());
  EXPECT_TRUE(store_.job(JobId{3}).ok()) << "of another namespace";
  EXPECT_EQ(left(), 7u);
  EXPECT_EQ(sweeper_->sweep().value(), 0);
}

TEST_F(JobSweeperTest, WithoutLimitsEverythingStays) {
  for (uint64_t n = 1; n <= 3; ++n) add_finished(n, WallTime{1});
  keep({.max_age = Duration(0), .max_jobs = 0});
  clock_.advance(JobSweeper::kGrace + kDay);
  EXPECT_EQ(sweeper_->sweep().value(), 0);
}

}  // namespace
}  // namespace hodei::server::job_sweeper_test
