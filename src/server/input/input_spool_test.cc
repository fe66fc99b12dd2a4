#include "src/server/input/input_spool.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include "gtest/gtest.h"
#include "src/server/input/job_inputs.h"

namespace hodei::server::input_spool_test {
namespace {

namespace fs = std::filesystem;

class StillClock final : public Clock {
 public:
  Now now() const override { return {{us}, {us}}; }
  int64_t us = 1'000'000'000;
};

class InputSpoolTest : public testing::Test {
 protected:
  InputSpoolTest() : folder_(fs::path(testing::TempDir()) / "hodei_inputs") {
    fs::remove_all(folder_);
    limits_.per_job = 64 << 10;
    limits_.total = 256 << 10;
    open();
  }
  ~InputSpoolTest() override { fs::remove_all(folder_); }

  // Also what a restarted server does.
  void open() {
    inputs_.reset();
    auto opened = JobInputs::open(folder_.string(), limits_, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    inputs_ = std::move(*opened);
  }
  std::shared_ptr<InputSpool> spool(uint64_t job = 1) { return inputs_->of(JobId{job}).value(); }
  static std::string text(InputSpool& spool, int64_t offset) { return spool.read(offset, 1 << 20).value().data; }

  const fs::path folder_;
  StillClock clock_;
  InputLimits limits_;
  std::unique_ptr<JobInputs> inputs_;
};

using Put = InputSpool::Put;

TEST_F(InputSpoolTest, IsReadFromAnyOffsetWhileItGrows) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  EXPECT_EQ(*input->put(sender, 0, "hello ", false), Put::Stored);
  EXPECT_EQ(text(*input, 0), "hello ");
  EXPECT_FALSE(input->read(0, 100)->end);
  EXPECT_EQ(*input->put(sender, 6, "world", true), Put::Stored);
  EXPECT_EQ(text(*input, 4), "o world");
  EXPECT_TRUE(input->read(6, 100)->end);
  EXPECT_FALSE(input->read(0, 3)->end);
}

TEST_F(InputSpoolTest, PassesOverWhatIsSentAgainAndRefusesAGap) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, "abc", false), Put::Stored);
  EXPECT_EQ(*input->put(sender, 1, "bcde", false), Put::Stored);
  EXPECT_EQ(text(*input, 0), "abcde");
  EXPECT_EQ(input->put(sender, 9, "x", false).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(InputSpoolTest, OfAClientThatIsConnectedIsNobodyElses) {
  const auto input = spool();
  const uint64_t first = input->attach_sender("a");
  EXPECT_EQ(input->attach_sender("b"), 0u);
  EXPECT_EQ(*input->put(first, 0, "x", false), Put::Stored);
  input->detach_sender(first, clock_.now().mono);
  EXPECT_NE(input->attach_sender("b"), 0u);
}

TEST_F(InputSpoolTest, BelongsToTheNewestCallOfItsClient) {
  const auto input = spool();
  const uint64_t first = input->attach_sender("a");
  const uint64_t second = input->attach_sender("a");
  EXPECT_EQ(*input->put(first, 0, "x", false), Put::Replaced);
  EXPECT_EQ(*input->put(second, 0, "y", true), Put::Stored);
  EXPECT_EQ(text(*input, 0), "y");
}

TEST_F(InputSpoolTest, SurvivesARestartOfTheServer) {
  const auto before = spool();
  ASSERT_EQ(*before->put(before->attach_sender(), 0, "half", false), Put::Stored);
  open();
  const auto after = spool();
  EXPECT_EQ(after->position().size, 4);
  EXPECT_FALSE(after->position().whole);
  ASSERT_EQ(*after->put(after->attach_sender(), 4, " whole", true), Put::Stored);
  open();
  EXPECT_TRUE(spool()->position().whole);
  EXPECT_EQ(text(*spool(), 0), "half whole");
}

TEST_F(InputSpoolTest, AFullOneTakesNoMoreUntilTheJobHasRead) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  const std::string block(32 << 10, 'a');
  ASSERT_EQ(*input->put(sender, 0, block, false), Put::Stored);
  ASSERT_EQ(*input->put(sender, 32 << 10, block, false), Put::Stored);
  EXPECT_EQ(*input->put(sender, 64 << 10, "b", false), Put::Full);
  EXPECT_EQ(input->prepare_start(), "");
  const uint64_t taker = input->begin(0).value();
  bool told = false;
  input->listen([&] { told = true; });
  input->taken(taker, 16 << 10);
  EXPECT_TRUE(told);
  EXPECT_EQ(*input->put(sender, 64 << 10, "b", true), Put::Stored);
  EXPECT_EQ(text(*input, 64 << 10), "b");
}

TEST_F(InputSpoolTest, TakesPartOfAPieceThatIsLargerThanItsRoom) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  const std::string piece = std::string(64 << 10, 'a') + std::string(32 << 10, 'b');
  EXPECT_EQ(*input->put(sender, 0, piece, true), Put::Full);
  EXPECT_EQ(input->position().size, 64 << 10);
  EXPECT_FALSE(input->position().whole);
  input->taken(input->begin(0).value(), 64 << 10);
  EXPECT_EQ(*input->put(sender, 0, piece, true), Put::Stored);
  EXPECT_EQ(text(*input, 64 << 10), std::string(32 << 10, 'b'));
  EXPECT_TRUE(input->position().whole);
}

TEST_F(InputSpoolTest, WhoseBeginningIsGoneCannotBeStartedAgain) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, std::string(64 << 10, 'a'), false), Put::Stored);
  input->taken(input->begin(0).value(), 32 << 10);
  ASSERT_EQ(*input->put(sender, 64 << 10, "b", true), Put::Stored);
  EXPECT_NE(inputs_->prepare_start(JobId{1}).find("cannot be started again"), std::string::npos);
  EXPECT_FALSE(input->begin(0).ok());
  open();  // the file's name says so
  EXPECT_NE(inputs_->prepare_start(JobId{1}).find("cannot be started again"), std::string::npos);
  EXPECT_EQ(text(*spool(), 64 << 10), "b");
  EXPECT_FALSE(spool()->begin(0).ok()) << "nobody is given what is gone";
}

TEST_F(InputSpoolTest, OfAJobThatClosedItsInputEndsWithWhatIsKept) {
  const auto input = spool();
  input->closed_by_job(input->begin(0).value());
  const std::string more(2 * (64 << 10), 'a');
  EXPECT_EQ(*input->put(input->attach_sender(), 0, more, false), Put::Closed) << "its client must not wait for ever";
}

TEST_F(InputSpoolTest, OfAJobThatClosedItsInputTakesWhatIsKeptAndNoMore) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  input->closed_by_job(input->begin(0).value());
  EXPECT_EQ(*input->put(sender, 0, std::string(64 << 10, 'a'), false), Put::Stored);
  // A second execution could still read all of it.
  EXPECT_EQ(inputs_->prepare_start(JobId{1}), "");
}

TEST_F(InputSpoolTest, WhatAnEarlierExecutionHasReadMakesNoRoomForALaterOne) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, std::string(64 << 10, 'a'), false), Put::Stored);
  const uint64_t first = input->begin(0).value();
  const uint64_t second = input->begin(0).value();
  input->taken(first, 64 << 10);
  input->closed_by_job(first);
  EXPECT_EQ(*input->put(sender, 64 << 10, "b", false), Put::Full);
  input->taken(second, 64 << 10);
  EXPECT_EQ(*input->put(sender, 64 << 10, "b", false), Put::Stored);
}

TEST_F(InputSpoolTest, OnceAnExecutionIsOrderedAnEarlierOneMakesNoRoom) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, std::string(64 << 10, 'a'), false), Put::Stored);
  const uint64_t first = input->begin(0).value();
  EXPECT_EQ(inputs_->prepare_start(JobId{1}), "");
  input->taken(first, 64 << 10);
  EXPECT_EQ(*input->put(sender, 64 << 10, "b", false), Put::Full) << "the second one reads it from the beginning";
  EXPECT_TRUE(input->begin(0).ok());
}

TEST_F(InputSpoolTest, WhatAnEarlierExecutionHadReadIsKeptOnceAnotherIsOrdered) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, std::string(64 << 10, 'a'), false), Put::Stored);
  input->taken(input->begin(0).value(), 64 << 10);
  EXPECT_EQ(inputs_->prepare_start(JobId{1}), "");
  EXPECT_EQ(*input->put(sender, 64 << 10, "b", false), Put::Full);
  EXPECT_TRUE(input->begin(0).ok());
}

TEST_F(InputSpoolTest, WhatIsRefusedTakesNoRoom) {
  for (uint64_t job = 1; job <= 4; ++job) {
    const auto input = spool(job);
    ASSERT_EQ(*input->put(input->attach_sender(), 0, std::string(64 << 10, 'a'), false), Put::Stored);
  }
  const auto fifth = spool(5);
  const uint64_t sender = fifth->attach_sender();
  const std::string piece(64 << 10, 'b');
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fifth->put(sender, 0, piece, false).status().code(), absl::StatusCode::kResourceExhausted);
  }
  inputs_->let_go(JobId{1})->remove();
  EXPECT_EQ(*fifth->put(sender, 0, piece, false), Put::Stored);
}

TEST_F(InputSpoolTest, LeavesTheReserveOfTheDiskAlone) {
  limits_.disk_reserve = uint64_t{1} << 60;
  open();
  const auto input = spool();
  const absl::Status full = input->put(input->attach_sender(), 0, "x", false).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << "its client waits and comes again";
  EXPECT_EQ(input->position().size, 0);
}

TEST_F(InputSpoolTest, HoldsADescriptorOnlyWhileSomebodyUsesIt) {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = open_files();
  std::vector<std::shared_ptr<InputSpool>> inputs;
  for (uint64_t job = 1; job <= 20; ++job) {
    const auto input = spool(job);
    const uint64_t listener = input->listen([] {});
    ASSERT_EQ(*input->put(input->attach_sender(), 0, "x", true), Put::Stored);
    input->unlisten(listener);
    inputs.push_back(input);
  }
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(text(*inputs[0], 0), "x");
}

TEST_F(InputSpoolTest, AllTogetherHaveALimit) {
  for (uint64_t job = 1; job <= 4; ++job) {
    const auto input = spool(job);
    ASSERT_EQ(*input->put(input->attach_sender(), 0, std::string(64 << 10, 'a'), false), Put::Stored);
  }
  const auto fifth = spool(5);
  const uint64_t sender = fifth->attach_sender();
  const absl::Status full = fifth->put(sender, 0, "x", false).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(full.message().find("stdin_store_size"), std::string::npos);
  inputs_->let_go(JobId{1})->remove();
  EXPECT_EQ(*fifth->put(sender, 0, "x", false), Put::Stored);
}

TEST_F(InputSpoolTest, BreaksOffWhenItsClientStaysAway) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, "half", false), Put::Stored);
  clock_.us += 3'600'000'000;
  inputs_->tick();
  EXPECT_FALSE(input->position().broken) << "its client is there";
  input->detach_sender(sender, clock_.now().mono);
  clock_.us += 599'000'000;
  inputs_->tick();
  EXPECT_FALSE(input->position().broken);
  clock_.us += 2'000'000;
  inputs_->tick();
  EXPECT_TRUE(input->position().broken);
  EXPECT_TRUE(input->has_more_at(4)) << "whoever has read all of it hears that it broke off";
  EXPECT_TRUE(input->read(0, 100)->broken);
  EXPECT_FALSE(input->read(0, 100)->end);
  EXPECT_NE(inputs_->prepare_start(JobId{1}).find("broke off after 4 bytes"), std::string::npos);
  EXPECT_EQ(inputs_->trouble(JobId{1}), inputs_->prepare_start(JobId{1})) << "known before it is started";
  EXPECT_EQ(inputs_->trouble(JobId{2}), "");
}

TEST_F(InputSpoolTest, OfWhichNothingEverCameIsEmpty) {
  const auto input = spool();
  clock_.us += 601'000'000;
  inputs_->tick();
  EXPECT_TRUE(input->read(0, 100)->end);
  EXPECT_EQ(inputs_->prepare_start(JobId{1}), "");
}

TEST_F(InputSpoolTest, GoesWithItsJob) {
  const auto input = spool();
  const uint64_t sender = input->attach_sender();
  ASSERT_EQ(*input->put(sender, 0, "x", false), Put::Stored);
  inputs_->let_go(JobId{1})->remove();
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_EQ(*input->put(sender, 1, "y", false), Put::Closed);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(InputSpoolTest, WhatADeadServerLeftGoesUnlessItsJobLives) {
  for (uint64_t job = 1; job <= 2; ++job) {
    const auto input = spool(job);
    ASSERT_EQ(*input->put(input->attach_sender(), 0, "x", true), Put::Stored);
  }
  open();
  inputs_->keep_only([](JobId job) { return job == JobId{2}; });
  EXPECT_FALSE(fs::exists(folder_ / "j1.whole"));
  EXPECT_TRUE(fs::exists(folder_ / "j2.whole"));
}

}  // namespace
}  // namespace hodei::server::input_spool_test
