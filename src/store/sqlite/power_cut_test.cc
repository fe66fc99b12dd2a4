// The power goes at a random operation. What was acknowledged must be there afterwards, and what is there must be the
// fold of a prefix of the batches: nothing in half, nothing out of order.
#include "gtest/gtest.h"
#include "src/base/status.h"
#include "src/store/conformance/samples.h"
#include "src/store/conformance/seeds.h"
#include "src/store/conformance/write_text.h"
#include "src/store/memory/memory_store.h"
#include "src/store/sqlite/power_cut_disk.h"
#include "src/store/sqlite/sqlite_reader.h"
#include "src/store/sqlite/sqlite_store.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store::power_cut_test {
namespace {

constexpr uint64_t kBatches = 25;
constexpr uint64_t kOperations = 500;  // about what that many batches take, so that cuts fall everywhere

struct Story {
  std::vector<core::Writes> batches;  // tried, in order
  uint64_t acknowledged = 0;
};

absl::Status checkpoint(const SqliteOptions& options, bool whole) {
  ASSIGN_OR_RETURN(Connection db, Connection::open({.path = options.path(), .vfs = options.vfs}));
  RETURN_IF_ERROR(db.run(options.sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
  return db.run(whole ? "PRAGMA wal_checkpoint(TRUNCATE)" : "PRAGMA wal_checkpoint(PASSIVE)");
}

// Commits until the power goes or the story ends.
Story live_until_cut(PowerCutDisk& disk, const SqliteOptions& options, uint64_t seed) {
  Story story;
  auto store = SqliteStore::open(options);
  if (!store.ok()) return story;  // cut while the database was being made
  const auto epoch = (*store)->new_epoch();
  RandomHistory history(seed);
  std::mt19937_64 random(seed + 1);
  while (epoch.ok() && story.batches.size() < kBatches) {
    story.batches.push_back(history.next_batch());
    const BatchNo batch{story.batches.size()};
    if (!(*store)->commit(story.batches.back(), *epoch, batch).ok()) break;
    ++story.acknowledged;
    if (random() % 6 == 0) checkpoint(options, random() % 3 == 0).IgnoreError();
  }
  disk.cut_now();  // before the store is closed: closing tidies up
  return story;
}

absl::Status expect(bool holds, std::string_view what) {
  return holds ? absl::OkStatus() : absl::DataLossError(std::string(what));
}

absl::Status check_after_restart(const std::string& folder, const Story& story) {
  const SqliteOptions options{.data_dir = folder};
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteStore> store, SqliteStore::open(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteReader> reader, SqliteReader::open(options));
  ASSIGN_OR_RETURN(const BatchNo last, store->last_batch());
  const auto kept = static_cast<uint64_t>(last);
  RETURN_IF_ERROR(expect(kept >= story.acknowledged,
                         cat("acknowledged ", story.acknowledged, " batches, but only ", kept, " are there")));
  RETURN_IF_ERROR(expect(kept <= story.batches.size(), "batches that nobody wrote"));

  MemoryStore reference;
  ASSIGN_OR_RETURN(const Epoch epoch, reference.new_epoch());
  for (uint64_t n = 1; n <= kept; ++n) RETURN_IF_ERROR(reference.commit(story.batches[n - 1], epoch, BatchNo{n}));
  RETURN_IF_ERROR(expect(load_text(*store) == load_text(reference), "the hot state is not that of a prefix"));
  RETURN_IF_ERROR(expect(history_text(*reader) == history_text(reference), "the jobs are not those of a prefix"));

  ASSIGN_OR_RETURN(Connection db, Connection::open({.path = options.path()}));
  ASSIGN_OR_RETURN(Statement check, db.prepare("PRAGMA integrity_check"));
  ASSIGN_OR_RETURN(const bool found, check.step());
  RETURN_IF_ERROR(expect(found && check.text() == "ok", "the file is damaged"));
  ASSIGN_OR_RETURN(const Epoch next, store->new_epoch());
  return store->commit({core::PutNextJob{1000}}, next, BatchNo{kept + 1});
}

absl::Status survives_a_power_cut(uint64_t seed, bool sync) {
  PowerCutDisk disk(seed);
  TestFolder before;
  TestFolder after;
  disk.cut_after(std::mt19937_64(seed)() % kOperations);
  const Story story = live_until_cut(disk, {.data_dir = before.path(), .vfs = disk.vfs(), .sync = sync}, seed);
  disk.restart_in(after.path());
  return check_after_restart(after.path(), story);
}

TEST(PowerCut, WhatWasAcknowledgedIsThereAfterwards) {
  const SeedRange seeds = seeds_from_environment(300);
  for (uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
    const absl::Status status = survives_a_power_cut(seed, true);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

TEST(PowerCut, WithoutSyncTheSameTestFails) {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) lost += !survives_a_power_cut(seed, false).ok();
  EXPECT_GT(lost, 10) << "a test that cannot fail proves nothing";
}

}  // namespace
}  // namespace hodei::store::power_cut_test
