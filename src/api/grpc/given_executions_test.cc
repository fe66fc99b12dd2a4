#include "src/api/grpc/given_executions.h"

#include "gtest/gtest.h"
#include "src/store/conformance/samples.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::given_executions_test {
namespace {

using core::JobState;

class HandClock final : public Clock {
 public:
  Now now() const override { return now_; }
  void advance(Duration by) {
    now_.wall = now_.wall + by;
    now_.mono = now_.mono + by;
  }

 private:
  Now now_{.wall = WallTime{1'800'000'000'000'000}, .mono = MonoTime{1'000'000'000}};
};

class GivenExecutionsTest : public testing::Test {
 protected:
  GivenExecutionsTest() : epoch_(store_.new_epoch().value()) {
    core::Writes writes = store::entering(job_);
    job_ = store::dispatched(job_, "w1");
    writes.push_back(store::live(job_));
    EXPECT_EQ(store_.commit(writes, epoch_, store::BatchNo{1}), absl::OkStatus());
  }
  // By somebody else than the stream that this is about, and without a word on how much it printed.
  void end_it() {
    job_ = store::moved(job_, JobState::Succeeded, "done");
    auto past = std::make_shared<core::Past>(*job_.past);
    past->executions.back().ended = clock_.now().wall;
    past->executions.back().log_bytes.reset();
    job_.past = past;
    EXPECT_EQ(store_.commit({store::finished(job_)}, epoch_, store::BatchNo{2}), absl::OkStatus());
  }
  bool takes_output(GivenExecutions& given) {
    const auto against = given.against({.execution = job_.current(), .offset = 5, .data = "more\n"}, WorkerId("w1"));
    EXPECT_TRUE(against.ok()) << against.status();
    return against.ok() && !*against;
  }

  HandClock clock_;
  store::MemoryStore store_;
  store::Epoch epoch_;
  core::JobHead job_ = store::a_job(1);
};

TEST_F(GivenExecutionsTest, ALogWithoutAKnownLengthIsClosedSomeTimeAfterTheResult) {
  GivenExecutions given(store_, clock_);
  given.give(job_.current());
  given.end(job_.current(), std::nullopt);
  EXPECT_TRUE(takes_output(given)) << "it may have been on its way";
  clock_.advance(GivenExecutions::kGraceAfterEnd);
  EXPECT_FALSE(takes_output(given));
}

TEST_F(GivenExecutionsTest, AnEndThatWasReportedBesideTheStreamClosesTheLogToo) {
  GivenExecutions given(store_, clock_);
  given.give(job_.current());
  clock_.advance(10 * GivenExecutions::kGraceAfterEnd);
  EXPECT_TRUE(takes_output(given)) << "it runs";
  end_it();
  EXPECT_TRUE(takes_output(given));
  clock_.advance(GivenExecutions::kGraceAfterEnd);
  EXPECT_FALSE(takes_output(given));
}

TEST_F(GivenExecutionsTest, AStreamThatComesLaterDoesNotOpenTheLogAgain) {
  end_it();
  {
    GivenExecutions given(store_, clock_);
    EXPECT_TRUE(takes_output(given));
  }
  clock_.advance(GivenExecutions::kGraceAfterEnd);
  GivenExecutions given(store_, clock_);
  EXPECT_FALSE(takes_output(given));
}

}  // namespace
}  // namespace hodei::api::given_executions_test
