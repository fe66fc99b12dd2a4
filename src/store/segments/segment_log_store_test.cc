#include "src/store/segments/segment_log_store.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gmock/gmock.h"
#include "src/base/status.h"
#include "src/store/conformance/log_store_suite.h"
#include "src/store/segments/power_cut_files.h"

namespace hodei::store::segment_log_store_test {
namespace {

class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/hodei-segments-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Harness final : public LogStoreHarness {
 public:
  Harness(SegmentOptions options, bool in_memory) : options_(options) {
    options_.clock = &clock_;
    if (in_memory) options_.files = &memory_;
    reopen();
  }
  NumberedLogStore& store() override { return *store_; }
  bool can_reopen() const override { return true; }
  void reopen() override {
    store_.reset();
    auto opened = SegmentLogStore::open(folder_.path() + "/logs", options_);
    HODEI_CHECK(opened.ok());
    store_ = *std::move(opened);
  }
  HandClock& clock() override { return clock_; }

 private:
  TempFolder folder_;
  HandClock clock_;
  PowerCutFiles memory_{1};
  SegmentOptions options_;
  std::unique_ptr<SegmentLogStore> store_;
};

LogStoreKind kind(std::string name, SegmentOptions options, bool in_memory = false) {
  return {std::move(name), [=] { return std::make_unique<Harness>(options, in_memory); }};
}

// Tiny segments spread every log over many of them; with one block each, all but the newest block is in a sealed one.
INSTANTIATE_TEST_SUITE_P(Segments, LogStoreSuite,
                         testing::Values(kind("on_disk", {.segment_bytes = 8000}),
                                         kind("two_kilobytes", {.segment_bytes = 2000}, true),
                                         kind("one_block", {.segment_blocks = 1}, true)),
                         [](const auto& kind_info) { return kind_info.param.name; });

constexpr ExecutionId kOne{JobId{7}, 1};

std::vector<std::string> names_in(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> out;
  const std::vector<FileEntry> entries = disk_files().list(folder).value();
  for (const FileEntry& entry : entries) {
    if (entry.name.ends_with(suffix)) out.push_back(folder + "/" + entry.name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::unique_ptr<SegmentLogStore> open(const std::string& folder, SegmentOptions options = {}) {
  return std::move(SegmentLogStore::open(folder, options)).value();
}

TEST(SegmentLogStore, ATornTailIsCutOffAtTheLastWholeBlock) {
  const TempFolder folder;
  {
    const auto store = open(folder.path());
    ASSERT_TRUE(store->append({piece_of(kOne, 0, "a\n")}).ok());
    ASSERT_TRUE(store->append({piece_of(kOne, 2, "b\n")}).ok());
  }
  const std::string segment = names_in(folder.path(), ".log").at(0);
  std::filesystem::resize_file(segment, std::filesystem::file_size(segment) - 1);
  const auto store = open(folder.path());
  EXPECT_EQ(read_all(*store, kOne), "a\n");
  ASSERT_TRUE(store->append({piece_of(kOne, 0, "a\nb\nc\n")}).ok());
  EXPECT_EQ(read_all(*store, kOne), "a\nb\nc\n");
}

// A segment of three appends: of kOne, of another job, of kOne. Gives the positions of its blocks.
struct ThreeAppends {
  TempFolder folder;
  std::string segment;
  std::vector<int64_t> starts;

  ThreeAppends() {
    const auto store = open(folder.path());
    for (const LogPiece& piece :
         {piece_of(kOne, 0, "first\n"), piece_of({JobId{9}, 1}, 0, "other\n"), piece_of(kOne, 6, "second\n")}) {
      segment = cat(folder.path(), "/0000000000000001.log");
      starts.push_back(std::filesystem::exists(segment) ? static_cast<int64_t>(std::filesystem::file_size(segment))
                                                        : 0);
      EXPECT_TRUE(store->append({piece}).ok());
    }
  }
  void damage(int64_t at, size_t bytes) const {
    std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at) << std::string(bytes, '!');
  }
};

TEST(SegmentLogStore, ABadBlockInTheOpenSegmentIsAGapAndWhatFollowsItIsKept) {
  const ThreeAppends three;
  three.damage(three.starts[0] + static_cast<int64_t>(kBlockHeaderBytes) + 2, 1);
  const auto store = open(three.folder.path());
  EXPECT_EQ(read_all(*store, {JobId{9}, 1}), "other\n");
  const LogPiece gap = store->read(kOne, 0, 1000).value();
  EXPECT_EQ(gap.offset, 6);
  EXPECT_EQ(gap.lost, kLostUnknown);
  EXPECT_EQ(store->read(kOne, 6, 1000)->data, "second\n");
  ASSERT_TRUE(store->append({piece_of(kOne, 13, "third\n")}).ok());
  EXPECT_EQ(open(three.folder.path())->read(kOne, 13, 1000)->data, "third\n") << "also after another start";
}

TEST(SegmentLogStore, ADamagedHeaderIsNotBelieved) {
  constexpr int64_t kOffsetInHeader = 40;
  const ThreeAppends three;
  three.damage(three.starts[0] + kOffsetInHeader, 2);  // "first" claims to lie further on
  const auto store = open(three.folder.path());
  EXPECT_EQ(store->read(kOne, 0, 1000)->data, "second\n");
  EXPECT_EQ(store->extent(kOne).next_offset, 13);
  ASSERT_TRUE(store->append({piece_of(kOne, 13, "third\n")}).ok());
  EXPECT_EQ(read_all(*store, kOne, 6), "second\nthird\n");
}

// A server that was killed had written a block and not synced it. The next one shows it, so it has to stay.
TEST(SegmentLogStore, WhatWasShownAfterAStartSurvivesAPowerCut) {
  const std::string segment = "/logs/0000000000000001.log";
  HandClock clock;
  PowerCutFiles model(1);
  const auto model_store = open("/logs", {.files = &model, .clock = &clock});
  ASSERT_TRUE(model_store->append({piece_of(kOne, 0, "a\n")}).ok());
  const auto length = static_cast<int64_t>(model.open_read(segment).value()->read(0, SIZE_MAX)->size());
  ASSERT_TRUE(model_store->append({piece_of(kOne, 2, "b\n")}).ok());
  const std::string block = model.open_read(segment).value()->read(length, SIZE_MAX).value();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    PowerCutFiles files(seed);
    ASSERT_TRUE(open("/logs", {.files = &files, .clock = &clock})->append({piece_of(kOne, 0, "a\n")}).ok());
    ASSERT_TRUE(files.open_append(segment).value()->append(block).ok());
    EXPECT_EQ(read_all(*open("/logs", {.files = &files, .clock = &clock}), kOne), "a\nb\n");
    files.cut_power();
    EXPECT_EQ(read_all(*open("/logs", {.files = &files, .clock = &clock}), kOne), "a\nb\n") << seed;
  }
}

TEST(SegmentLogStore, ABlockWhoseHeaderIsGoneIsPassedOverToo) {
  const ThreeAppends three;
  three.damage(three.starts[1], kBlockHeaderBytes);
  const auto store = open(three.folder.path());
  EXPECT_EQ(read_all(*store, kOne), "first\nsecond\n");
  EXPECT_FALSE(store->extent({JobId{9}, 1}).exists);
}

TEST(SegmentLogStore, AHoleInsideALogIsSaidToBeLostAndNotExpired) {
  const ThreeAppends three;
  {
    const auto store = open(three.folder.path());
    ASSERT_TRUE(store->append({piece_of(kOne, 13, "third\n")}).ok());
  }
  three.damage(three.starts[2], kBlockHeaderBytes);
  const auto store = open(three.folder.path());
  EXPECT_EQ(store->read(kOne, 0, 1000)->data, "first\n");
  const LogPiece behind = store->read(kOne, 6, 1000).value();
  EXPECT_EQ(behind.data, "third\n");
  EXPECT_EQ(behind.lost, kLostUnknown);
}

TEST(SegmentLogStore, AnAppendThatIsNotWholeIsCutOffFromItsDamageOn) {
  const TempFolder folder;
  int64_t last_append = 0;
  {
    const auto store = open(folder.path());
    ASSERT_TRUE(store->append({piece_of(kOne, 0, "first\n")}).ok());
    last_append = static_cast<int64_t>(std::filesystem::file_size(names_in(folder.path(), ".log").at(0)));
    ASSERT_TRUE(store->append({piece_of(kOne, 6, "second\n"), piece_of({JobId{9}, 1}, 0, "other\n")}).ok());
  }
  // As a power cut may leave it: a later sector of what was not synced is there, an earlier one is not.
  std::fstream(names_in(folder.path(), ".log").at(0), std::ios::in | std::ios::out).seekp(last_append)
      << std::string(30, '\0');
  const auto store = open(folder.path());
  EXPECT_EQ(read_all(*store, kOne), "first\n");
  ASSERT_TRUE(store->append({piece_of({JobId{9}, 1}, 0, "other\n"), piece_of(kOne, 6, "second\n")}).ok());
  EXPECT_EQ(read_all(*store, kOne), "first\nsecond\n") << "the worker sends it again, and nothing is missing";
}

TEST(SegmentLogStore, OutputThatLooksLikeABlockIsNotTakenForOne) {
  const ThreeAppends three;
  std::string block;  // that a job prints: the mark that another one's output was cleared
  BlockEncoder().add_tombstone(kOne.job, WallTime{1}, block);
  const ExecutionId hostile{JobId{66}, 1};
  int64_t at = 0;
  {
    const auto store = open(three.folder.path());
    at = static_cast<int64_t>(std::filesystem::file_size(three.segment));
    // Short enough to be stored as it is.
    ASSERT_TRUE(store->append({piece_of(hostile, 0, block)}).ok());
    ASSERT_TRUE(store->append({piece_of(kOne, 13, "third\n")}).ok());
  }
  three.damage(at + static_cast<int64_t>(kBlockHeaderBytes), 1);
  const auto store = open(three.folder.path());
  EXPECT_EQ(read_all(*store, kOne), "first\nsecond\nthird\n");
}

TEST(SegmentLogStore, OutputDoesNotUseTheRoomThatIsKeptForOthers) {
  PowerCutFiles files(1);
  files.limit_space(10'000);
  const auto store = open("/logs", {.disk_reserve = 9'000, .files = &files});
  std::string text;
  absl::Status refused;
  while (refused.ok() && text.size() < 20'000) {
    const std::string line = cat("line ", text.size(), "\n");
    refused = store->append({piece_of(kOne, static_cast<int64_t>(text.size()), line)});
    if (refused.ok()) text += line;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_GE(*files.free_bytes("/logs"), 9'000);
  EXPECT_EQ(read_all(*store, kOne), text);
  files.limit_space(1'000);  // others have used of the reserve
  EXPECT_TRUE(store->clear(kOne.job).ok()) << "what makes room is always possible";
  files.limit_space(1'000'000);
  EXPECT_TRUE(store->append({piece_of(kOne, 0, "goes on\n")}).ok());
}

TEST(SegmentLogStore, AMissingOrDamagedIndexIsMadeAgain) {
  const TempFolder folder;
  std::string text;
  {
    const auto store = open(folder.path(), {.segment_blocks = 5});
    for (int i = 0; i < 23; ++i) {
      ASSERT_TRUE(store->append({piece_of(kOne, static_cast<int64_t>(text.size()), std::to_string(i) + "\n")}).ok());
      text += std::to_string(i) + "\n";
    }
  }
  const std::vector<std::string> indexes = names_in(folder.path(), ".idx");
  ASSERT_EQ(indexes.size(), 4u);
  std::filesystem::remove(indexes[0]);
  std::ofstream(indexes[1], std::ios::in | std::ios::out).seekp(100) << "rotten";
  std::filesystem::resize_file(indexes[2], 10);
  EXPECT_EQ(read_all(*open(folder.path()), kOne), text);
}

TEST(SegmentLogStore, ADamagedBlockIsSaidToBeLostAndTheRestIsRead) {
  const TempFolder folder;
  const auto store = open(folder.path());
  ASSERT_TRUE(store->append({piece_of(kOne, 0, "first\n")}).ok());
  ASSERT_TRUE(store->append({piece_of(kOne, 6, "second\n")}).ok());
  std::ofstream(names_in(folder.path(), ".log").at(0), std::ios::in | std::ios::out).seekp(kBlockHeaderBytes + 2)
      << '!';
  const LogPiece gap = store->read(kOne, 0, 1000).value();
  EXPECT_EQ(gap.data, "");
  EXPECT_EQ(gap.offset, 6);
  EXPECT_EQ(gap.lost, kLostUnknown);
  EXPECT_EQ(store->read(kOne, 6, 1000)->data, "second\n");
}

TEST(SegmentLogStore, AClearedJobStaysClearedWhenItsTombstoneIsInAnotherSegment) {
  const TempFolder folder;
  {
    const auto store = open(folder.path(), {.segment_blocks = 1});
    ASSERT_TRUE(store->append({piece_of(kOne, 0, "a\n")}).ok());
    ASSERT_TRUE(store->append({piece_of({JobId{9}, 1}, 0, "b\n")}).ok());
    ASSERT_TRUE(store->clear(kOne.job).ok());
    ASSERT_TRUE(store->append({piece_of({JobId{9}, 1}, 2, "b\n")}).ok());
    EXPECT_FALSE(store->extent(kOne).exists);
  }
  EXPECT_FALSE(open(folder.path())->extent(kOne).exists);
}

TEST(SegmentLogStore, ALogWhoseBeginningHasExpiredSaysWhereItBegins) {
  const TempFolder folder;
  HandClock clock;
  const auto store = open(folder.path(), {.segment_blocks = 1, .clock = &clock});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(store->append({piece_of(kOne, i * 2, std::to_string(i) + "\n")}).ok());
    clock.advance(1s);
  }
  ASSERT_GT(store->expire({.max_age = 6s, .share_by_age = 1}, clock.now().wall).value(), 0);
  const LogExtent extent = store->extent(kOne);
  EXPECT_EQ(extent.first_offset, 8);
  EXPECT_EQ(extent.entries, 10);
  const NumberedPiece first = store->read_numbered(kOne, 0, 1000).value();
  EXPECT_EQ(first.piece.offset, 8);
  EXPECT_EQ(first.piece.data, "4\n");
  EXPECT_EQ(first.first_line, 4);
  EXPECT_EQ(store->offset_of_line(kOne, 1).value(), 8);
}

TEST(SegmentLogStore, ReadersSeeAGrowingLogWithoutGapsBesideTheWriter) {
  const TempFolder folder;
  const auto store = open(folder.path(), {.segment_blocks = 50});
  constexpr int kPieces = 2000;
  std::atomic<bool> failed = false;
  const auto follow = [&] {
    int64_t at = 0;
    for (bool end = false; !end && !failed;) {
      const LogPiece piece = store->read(kOne, at, 100'000).value();
      if (piece.offset != at || piece.lost != 0) failed = true;
      for (const char c : piece.data) failed = failed || c != static_cast<char>('a' + at++ % 26);
      end = piece.end;
    }
    EXPECT_EQ(at, kPieces * 26);
  };
  std::thread one(follow);
  std::thread two(follow);
  for (int i = 0; i < kPieces; ++i) {
    LogPiece piece = piece_of(kOne, i * 26, "abcdefghijklmnopqrstuvwxyz");
    piece.end = i + 1 == kPieces;
    ASSERT_TRUE(store->append({piece}).ok());
  }
  one.join();
  two.join();
  EXPECT_FALSE(failed);
}

// Overwrites bytes in the middle of a file.
void damage(const std::string& path, int64_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file << bytes;
}

TEST(SegmentLogStore, AnIndexThatClaimsToBeHugeIsMadeAgain) {
  const TempFolder folder;
  {
    const auto store = open(folder.path(), {.segment_blocks = 1});
    ASSERT_TRUE(store->append({piece_of(kOne, 0, "a\n")}).ok());
    ASSERT_TRUE(store->append({piece_of(kOne, 2, "b\n")}).ok());
  }
  // The number of tombstones: billions, which would be read at once.
  damage(names_in(folder.path(), ".idx").at(0), 4 * 8, std::string("\xff\xff\xff\xff", 4));
  EXPECT_EQ(read_all(*open(folder.path()), kOne), "a\nb\n");
}

TEST(SegmentLogStore, AReaderGetsPastADamagedEndMark) {
  const TempFolder folder;
  const auto store = open(folder.path());
  ASSERT_TRUE(store->append({piece_of(kOne, 0, "a\n")}).ok());
  LogPiece mark{.execution = kOne, .offset = 2, .end = true};
  ASSERT_TRUE(store->append({mark}).ok());
  const std::string segment = names_in(folder.path(), ".log").at(0);
  damage(segment, static_cast<int64_t>(std::filesystem::file_size(segment)) - 8, "rotten");
  const LogPiece piece = store->read(kOne, 2, 1000).value();
  EXPECT_EQ(piece.lost, kLostUnknown);
  EXPECT_TRUE(piece.end);
}

TEST(SegmentLogStore, RefusesTimesThatNobodyCanMean) {
  const TempFolder folder;
  const auto store = open(folder.path());
  for (const int64_t time : {INT64_MIN, INT64_MAX}) {
    LogPiece piece = piece_of(kOne, 0, "a\n");
    piece.lines[0].time_us = time;
    EXPECT_TRUE(absl::IsInvalidArgument(store->append({piece}))) << time;
  }
  EXPECT_FALSE(store->extent(kOne).exists);
}

}  // namespace
}  // namespace hodei::store::segment_log_store_test
