// How a transport pulls a source, and the threads on which answers are finished.
#include "src/api/calls/pump.h"

#include <future>
#include <string>

#include "gtest/gtest.h"
#include "src/api/calls/calls_fixture.h"

namespace hodei::api::pump_test {
namespace {

// Gives what the test puts in.
class TestSource final : public Source<std::string> {
 public:
  explicit TestSource(bool files, std::promise<void>* gone = nullptr) : files_(files), gone_(gone) {}
  ~TestSource() override {
    if (gone_ != nullptr) gone_->set_value();
  }

  void start(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  Next next(std::string& out) override {
    const std::lock_guard lock(mutex_);
    thread_ = std::this_thread::get_id();
    if (waiting_.empty()) return ended_ ? Next::End : Next::Wait;
    out = waiting_.front();
    waiting_.erase(waiting_.begin());
    return Next::Message;
  }
  absl::Status status() const override { return absl::DataLossError("that was all"); }
  bool reads_files() const override { return files_; }

  void put(const std::string& message) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(message);
      wake = wake_;
    }
    if (wake) wake();
  }
  void end() {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      wake = wake_;
    }
    wake();
  }
  std::thread::id thread() {
    const std::lock_guard lock(mutex_);
    return thread_;
  }

 private:
  const bool files_;
  std::promise<void>* gone_;
  std::mutex mutex_;
  std::function<void()> wake_;
  std::vector<std::string> waiting_;
  bool ended_ = false;
  std::thread::id thread_;
};

// A transport that keeps what it is given, and says when it was sent if the test wants that.
class PumpTest : public testing::Test {
 protected:
  void SetUp() override {
    replies_.start();
    files_.start();
    pump_ = std::make_shared<Pump<std::string>>(
        TransportPorts{replies_, files_, open_calls_, clock_},
        Pump<std::string>::Sink{[this](const std::string& message) { wrote(message); },
                                [this](const absl::Status& status) { finished(status); }});
  }
  void TearDown() override {
    if (pump_ != nullptr) pump_->close();
    replies_.stop();
    files_.stop();
  }

  void wrote(const std::string& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    changed_.notify_all();
  }
  void finished(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(end_);
    end_ = status;
    changed_.notify_all();
  }
  bool has(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience, [&] { return messages_.size() >= count; });
  }
  absl::Status end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kTestPatience, [&] { return end_.has_value(); });
    return end_.value_or(absl::DeadlineExceededError("it did not end"));
  }
  std::vector<std::string> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

  SystemClock clock_;
  Replies replies_;
  server::ReadPool files_{"files", {}};
  server::OpenCalls open_calls_;
  std::shared_ptr<Pump<std::string>> pump_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> messages_;
  std::optional<absl::Status> end_;
};

TEST_F(PumpTest, PullsTheNextOnlyWhenTheLastWasSent) {
  for (const bool files : {false, true}) {
    auto source = std::make_shared<TestSource>(files);
    messages_.clear();
    pump_->close();
    SetUp();
    source->put("a");
    source->put("b");
    pump_->start(source);
    ASSERT_TRUE(has(1));
    source->put("c");
    EXPECT_EQ(messages(), std::vector<std::string>{"a"});
    pump_->written(true);
    ASSERT_TRUE(has(2));
    pump_->written(true);
    ASSERT_TRUE(has(3));
    pump_->written(true);
    source->put("d");
    ASSERT_TRUE(has(4));
    EXPECT_EQ(messages(), (std::vector<std::string>{"a", "b", "c", "d"}));
    EXPECT_NE(source->thread(), std::this_thread::get_id()) << "whoever wakes it does not do its work";
  }
}

TEST_F(PumpTest, EndsAsItsSourceDoesAndLetsGoOfIt) {
  std::promise<void> gone;
  auto source = std::make_shared<TestSource>(false, &gone);
  pump_->start(source);
  EXPECT_EQ(open_calls_.size(), 1u);
  source->end();
  EXPECT_EQ(end(), absl::DataLossError("that was all"));
  source = nullptr;
  pump_->close();
  EXPECT_EQ(open_calls_.size(), 0u);
  EXPECT_EQ(gone.get_future().wait_for(kTestPatience), std::future_status::ready);
}

TEST_F(PumpTest, EndsWhenTheClientOrTheServerGoesAway) {
  const auto source = std::make_shared<TestSource>(false);
  source->put("a");
  pump_->start(source);
  ASSERT_TRUE(has(1));
  pump_->written(false);
  EXPECT_EQ(end().code(), absl::StatusCode::kCancelled);
  pump_->close();
  source->put("b");
  EXPECT_EQ(messages().size(), 1u);
  end_.reset();
  SetUp();
  pump_->start(std::make_shared<TestSource>(false));
  open_calls_.end_all();
  EXPECT_EQ(end().code(), absl::StatusCode::kUnavailable);
}

TEST_F(PumpTest, ARefusedCallIsEndedAtOnce) {
  pump_->start(absl::InvalidArgumentError("job_id: is missing"));
  EXPECT_EQ(end().message(), "job_id: is missing");
}

TEST(RepliesTest, AreFinishedInTheirOrderOnAnotherThread) {
  Replies replies;
  replies.start();
  std::vector<int> seen;
  std::promise<std::thread::id> done;
  for (int i = 0; i < 1'000; ++i) {
    replies.answer(
        Replies::Lane::Quick, [&seen, i](const absl::StatusOr<core::Reply>&) { seen.push_back(i); }, core::Reply());
  }
  replies.post(Replies::Lane::Quick, [&done] { done.set_value(std::this_thread::get_id()); });
  EXPECT_NE(done.get_future().get(), std::this_thread::get_id());
  ASSERT_EQ(seen.size(), 1'000u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(RepliesTest, ALongAnswerHoldsUpNoQuickOne) {
  Replies replies;
  replies.start();
  std::promise<void> go_on, quick;
  replies.post(Replies::Lane::Long, [&, allowed = go_on.get_future().share()] { allowed.wait(); });
  replies.post(Replies::Lane::Quick, [&quick] { quick.set_value(); });
  EXPECT_EQ(quick.get_future().wait_for(kTestPatience), std::future_status::ready);
  go_on.set_value();
}

TEST(RepliesTest, NoReplyIsLostWhenTheThreadsStop) {
  Replies replies;
  replies.start();
  int answered = 0;
  const auto count = [&answered](const absl::StatusOr<core::Reply>&) { ++answered; };
  for (int i = 0; i < 100; ++i) replies.answer(Replies::Lane::Quick, count, core::Reply());
  replies.stop();
  EXPECT_EQ(answered, 100);
  replies.answer(Replies::Lane::Quick, count, core::Reply());
  EXPECT_EQ(answered, 101) << "the caller gives it";
}

}  // namespace
}  // namespace hodei::api::pump_test
