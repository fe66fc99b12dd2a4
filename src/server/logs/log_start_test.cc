#include "src/server/logs/log_start.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/store/conformance/log_store_suite.h"
#include "src/store/memory/memory_log_store.h"
#include "src/store/segments/segment_log_store.h"

namespace hodei::server::log_start_test {
namespace {

constexpr JobId kJob{7};
constexpr int64_t kLine = 10;  // bytes
constexpr int64_t kLinesPerPiece = 50;

// Two executions with 1000 lines each, one every second since 1970, over many small segments.
class LogStarts : public testing::TestWithParam<const char*> {
 protected:
  LogStarts() {
    if (GetParam() == std::string("memory")) {
      store_ = std::make_unique<store::MemoryLogStore>(&clock_);
    } else {
      char name[] = "/tmp/hodei-start-XXXXXX";
      folder_ = ::mkdtemp(name);
      store_ = std::move(store::SegmentLogStore::open(folder_, {.segment_blocks = 3, .clock = &clock_})).value();
    }
    for (uint32_t execution = 1; execution <= 2; ++execution) {
      for (int64_t line = 0; line < 1000; line += kLinesPerPiece) print(execution, line);
    }
  }
  ~LogStarts() override {
    store_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void print(uint32_t execution, int64_t first_line) {
    std::string text;
    for (int64_t i = 0; i < kLinesPerPiece; ++i) text += "123456789\n";
    store::LogPiece piece = store::piece_of({kJob, execution}, first_line * kLine, text);
    for (int64_t i = 0; i < kLinesPerPiece; ++i) {
      piece.lines[static_cast<size_t>(i)].time_us = ((execution - 1) * 1000 + first_line + i) * 1'000'000;
    }
    ASSERT_TRUE(store_->append({piece}).ok());
  }
  // (execution, line) at which a reader begins.
  std::pair<uint32_t, int64_t> start(SubscribeRequest request) {
    request.job = kJob;
    const std::optional<LogStart> found = find_start(*store_, request).value();
    return found ? std::pair(found->execution, found->offset / kLine) : std::pair(0u, int64_t{0});
  }
  static WallTime second(int64_t s) { return WallTime{s * 1'000'000}; }

  store::HandClock clock_;
  std::string folder_;
  std::unique_ptr<store::NumberedLogStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, LogStarts, testing::Values("memory", "segments"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(LogStarts, ATailBeginsSoManyLinesBeforeTheEnd) {
  EXPECT_EQ(start({.tail = 1}), std::pair(2u, int64_t{999}));
  EXPECT_EQ(start({.tail = 123}), std::pair(2u, int64_t{877}));
  EXPECT_EQ(start({.tail = 1000}), std::pair(2u, int64_t{0}));
  EXPECT_EQ(start({.tail = 1001}), std::pair(1u, int64_t{999})) << "it goes back over executions";
  EXPECT_EQ(start({.tail = 2001}), std::pair(0u, int64_t{0})) << "more than there is: from the beginning";
}

TEST_P(LogStarts, ATailOfOneExecutionStaysInIt) {
  EXPECT_EQ(start({.execution = 1, .tail = 10}), std::pair(1u, int64_t{990}));
  EXPECT_EQ(start({.execution = 1, .tail = 5000}), std::pair(0u, int64_t{0}));
  EXPECT_EQ(start({.execution = 3, .tail = 10}), std::pair(0u, int64_t{0})) << "it has printed nothing yet";
}

TEST_P(LogStarts, ATimeBeginsAtTheFirstLineThatIsNotOlder) {
  EXPECT_EQ(start({.since = second(1)}), std::pair(1u, int64_t{1}));
  EXPECT_EQ(start({.since = second(537)}), std::pair(1u, int64_t{537}));
  EXPECT_EQ(start({.since = WallTime{537'000'001}}), std::pair(1u, int64_t{538}));
  EXPECT_EQ(start({.since = second(1000)}), std::pair(2u, int64_t{0}));
  EXPECT_EQ(start({.since = second(1999)}), std::pair(2u, int64_t{999}));
  EXPECT_EQ(start({.since = second(5000)}), std::pair(2u, int64_t{1000})) << "behind all that is there";
}

TEST_P(LogStarts, OfTailAndTimeTheLaterCounts) {
  EXPECT_EQ(start({.tail = 10, .since = second(1500)}), std::pair(2u, int64_t{990}));
  EXPECT_EQ(start({.tail = 900, .since = second(1500)}), std::pair(2u, int64_t{500}));
}

}  // namespace
}  // namespace hodei::server::log_start_test
