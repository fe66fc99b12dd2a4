// What append() answered OK for is there after any power cut; and the test that says so notices a missing sync.
#include <array>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/store/conformance/log_store_suite.h"
#include "src/store/conformance/seeds.h"
#include "src/store/segments/power_cut_files.h"
#include "src/store/segments/segment_log_store.h"

namespace hodei::store::power_cut_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSeeds = 200;  // ten times slower there, and no other logic
#else
constexpr int kSeeds = 1000;
#endif
constexpr int kExecutions = 5;

// The byte that execution `e` prints at `offset`, so that anything read back can be checked.
char printed(size_t e, int64_t offset) {
  return static_cast<char>('!' + (offset * 7 + static_cast<int64_t>(e) * 13) % 90);
}

// One machine that fails again and again. check() returns what is wrong, or nothing.
class Machine {
 public:
  explicit Machine(uint64_t seed, bool sync_lies) : random_(seed), files_(seed + 1) {
    if (sync_lies) files_.lie_about_sync();
  }

  std::string live_and_die() {
    for (int life = 0; life < 4; ++life) {
      if (std::string wrong = start(); !wrong.empty()) return wrong;
      files_.fail_after(1 + static_cast<int>(random_() % 200));
      while (!files_.has_failed()) random_() % 20 == 0 ? clear_one() : append_some();
      store_.reset();
      files_.cut_power();
    }
    return start();
  }

 private:
  struct Sent {
    int64_t acknowledged = 0;
    bool may_be_cleared = false;  // a clear() was not answered
  };

  std::string start() {
    auto opened = SegmentLogStore::open("/logs", {.segment_bytes = 3000, .segment_blocks = 12, .files = &files_});
    if (!opened.ok()) return cat("cannot open: ", opened.status().ToString());
    store_ = *std::move(opened);
    for (size_t e = 0; e < kExecutions; ++e) {
      if (std::string wrong = check(e); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::string check(size_t e) {
    Sent& sent = sent_[e];
    const LogExtent extent = store_->extent(id(e));
    if (sent.may_be_cleared && !extent.exists) sent = {};
    sent.may_be_cleared = false;
    if (extent.next_offset < sent.acknowledged) {
      return cat("execution ", e, " has ", extent.next_offset, " bytes, acknowledged were ", sent.acknowledged);
    }
    const std::string text = read_all(*store_, id(e));
    if (static_cast<int64_t>(text.size()) != extent.next_offset) return cat("execution ", e, " has a hole");
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != printed(e, static_cast<int64_t>(i))) return cat("execution ", e, " is wrong at ", i);
    }
    return {};
  }

  // Sends on from what was acknowledged or, as a worker does after a break, from before it.
  void append_some() {
    std::vector<LogPiece> pieces;
    std::array<int64_t, kExecutions> ends{};
    for (size_t e = 0; e < kExecutions; ++e) {
      if (random_() % 2 == 0) continue;
      const int64_t back = std::min<int64_t>(sent_[e].acknowledged, static_cast<int64_t>(random_() % 50));
      const int64_t offset = sent_[e].acknowledged - back;
      std::string text;
      for (uint64_t n = 51 + random_() % 700; n > 0; --n)
        text += printed(e, offset + static_cast<int64_t>(text.size()));
      ends[e] = offset + static_cast<int64_t>(text.size());
      pieces.push_back(piece_of(id(e), offset, text));
    }
    if (!store_->append(pieces).ok()) return;
    for (size_t e = 0; e < kExecutions; ++e) sent_[e].acknowledged = std::max(sent_[e].acknowledged, ends[e]);
  }

  void clear_one() {
    const size_t e = random_() % kExecutions;
    if (store_->clear(id(e).job).ok()) {
      sent_[e] = {};
    } else {
      sent_[e].may_be_cleared = true;
    }
  }

  static ExecutionId id(size_t e) { return {JobId{100 + e}, 1}; }

  std::mt19937_64 random_;
  PowerCutFiles files_;
  std::unique_ptr<SegmentLogStore> store_;
  std::array<Sent, kExecutions> sent_;
};

TEST(PowerCut, WhatWasAcknowledgedIsThere) {
  const SeedRange seeds = seeds_from_environment(kSeeds);
  for (uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
    const std::string wrong = Machine(seed, false).live_and_die();
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(PowerCut, ADiskThatLiesAboutSyncIsNoticed) {
  int noticed = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) noticed += !Machine(seed, true).live_and_die().empty();
  EXPECT_GT(noticed, 40);
}

TEST(DiskFull, AnAppendIsRefusedAsAWholeAndLaterOnesWork) {
  constexpr ExecutionId kOne{JobId{1}, 1};
  for (int64_t room = 0; room < 400; room += 7) {
    PowerCutFiles files(1);
    auto store = std::move(SegmentLogStore::open("/logs", {.files = &files})).value();
    ASSERT_TRUE(store->append({piece_of(kOne, 0, "before\n")}).ok());
    files.limit_space(room);
    std::mt19937_64 random(7);
    std::string noise;  // does not compress
    while (noise.size() < 600) noise.push_back(static_cast<char>(random()));
    const LogPiece large = piece_of(kOne, 7, noise);
    EXPECT_TRUE(absl::IsResourceExhausted(store->append({large})));
    EXPECT_EQ(read_all(*store, kOne), "before\n");
    files.limit_space(-1);
    ASSERT_TRUE(store->append({large}).ok());
    EXPECT_EQ(read_all(*store, kOne), "before\n" + large.data);
    store = std::move(SegmentLogStore::open("/logs", {.files = &files})).value();
    EXPECT_EQ(read_all(*store, kOne), "before\n" + large.data);
  }
}

TEST(DiskFull, AnIndexThatFindsNoRoomIsWrittenLater) {
  PowerCutFiles files(1);
  auto store = std::move(SegmentLogStore::open("/logs", {.segment_blocks = 2, .files = &files})).value();
  std::string text;
  for (int i = 0; i < 40; ++i) {
    files.limit_space(i % 10 < 8 ? 90 : -1);
    const std::string line = cat(i, "\n");
    ASSERT_TRUE(store->append({piece_of({JobId{1}, 1}, static_cast<int64_t>(text.size()), line)}).ok()) << i;
    text += line;
  }
  EXPECT_EQ(read_all(*store, {JobId{1}, 1}), text);
}

}  // namespace
}  // namespace hodei::store::power_cut_test
