// A full disk, and readers and checkpoints beside commits.
#include <atomic>
#include <fstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/store/conformance/samples.h"
#include "src/store/conformance/write_text.h"
#include "src/store/sqlite/power_cut_disk.h"
#include "src/store/sqlite/sqlite_reader.h"
#include "src/store/sqlite/sqlite_store.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store::sqlite_faults_test {
namespace {

std::string integrity(const SqliteOptions& options) {
  Connection db = Connection::open({.path = options.path(), .vfs = options.vfs}).value();
  Statement check = db.prepare("PRAGMA integrity_check").value();
  return check.step().value() ? std::string(check.text()) : "";
}

TEST(SqliteFaults, AFullDiskRefusesTheBatchAndGoesOnWhenThereIsRoom) {
  PowerCutDisk disk(1);
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path(), .vfs = disk.vfs()};
  const auto store = SqliteStore::open(options).value();
  const Epoch epoch = store->new_epoch().value();
  RandomHistory history(1);
  uint64_t done = 0;
  for (; done < 10; ++done) {
    ASSERT_EQ(store->commit(history.next_batch(), epoch, BatchNo{done + 1}), absl::OkStatus());
  }
  const std::vector<std::string> before = load_text(*store);
  const core::Writes batch = history.next_batch();

  disk.fill(true);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const absl::Status status = store->commit(batch, epoch, BatchNo{done + 1});
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(status.ToString(), testing::HasSubstr(options.path()));
    EXPECT_EQ(store->last_batch().value(), BatchNo{done});
    EXPECT_EQ(load_text(*store), before);
  }
  disk.fill(false);
  EXPECT_EQ(store->commit(batch, epoch, BatchNo{done + 1}), absl::OkStatus());
  EXPECT_EQ(integrity(options), "ok");
}

TEST(SqliteFaults, ReadersAndCheckpointsGoOnBesideCommits) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path(), .checkpoint_bytes = 256 << 10};
  const auto store = SqliteStore::open(options).value();
  ASSERT_EQ(store->start(), absl::OkStatus());
  const Epoch epoch = store->new_epoch().value();
  const auto reader = SqliteReader::open(options).value();
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> committed = 0;

  // More of them than there are connections.
  std::vector<std::thread> readers;
  for (size_t i = 0; i < kMaxReadConnections + 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const uint64_t seen = committed;
        const auto page = reader->jobs({.limit = 300}, {});
        ASSERT_TRUE(page.ok()) << page.status();
        const std::vector<JobView>& jobs = page->jobs;
        ASSERT_GE(jobs.size(), std::min<uint64_t>(seen, 300));
        for (size_t n = 1; n < jobs.size(); ++n) {
          ASSERT_EQ(number(jobs[n].head.id) + 1, number(jobs[n - 1].head.id)) << "missing or seen twice";
        }
        if (seen > 0) {
          ASSERT_TRUE(reader->job(JobId{seen}).ok());
        }
      }
    });
  }
  constexpr uint64_t kJobs = 600;
  constexpr uint64_t kLag = 5;  // each job ends a few batches after it came
  for (uint64_t n = 1; n <= kJobs; ++n) {
    core::Writes batch = entering(a_job(n), std::string(2000, 'x'));
    if (n > kLag) batch.push_back(finished(moved(a_job(n - kLag), core::JobState::Cancelled)));
    ASSERT_EQ(store->commit(batch, epoch, BatchNo{n}), absl::OkStatus());
    committed = n;
  }
  stop = true;
  for (std::thread& thread : readers) thread.join();
  store->stop();
  EXPECT_EQ(load_text(*store).size(), kLag);
  EXPECT_EQ(integrity(options), "ok");
}

// The log's header counts how often it has started over (big-endian, at byte 12).
uint32_t times_started_over(const SqliteOptions& options) {
  std::ifstream log(options.path() + "-wal", std::ios::binary);
  unsigned char header[16] = {};
  log.read(reinterpret_cast<char*>(header), sizeof header);
  return uint32_t{header[12]} << 24 | uint32_t{header[13]} << 16 | uint32_t{header[14]} << 8 | header[15];
}

TEST(SqliteFaults, TheLogStartsOverWhileCommitsKeepComing) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path(), .checkpoint_bytes = 128 << 10};
  const auto store = SqliteStore::open(options).value();
  ASSERT_EQ(store->start(), absl::OkStatus());
  const Epoch epoch = store->new_epoch().value();
  const uint32_t before = times_started_over(options);
  constexpr uint64_t kEnough = 50'000;  // a few hundred do it, unless the machine starves the other thread
  uint64_t n = 0;
  while (n < kEnough && times_started_over(options) < before + 3) {
    ++n;
    ASSERT_EQ(store->commit(entering(a_job(n), std::string(4000, 'x')), epoch, BatchNo{n}), absl::OkStatus());
  }
  EXPECT_LT(n, kEnough);
}

}  // namespace
}  // namespace hodei::store::sqlite_faults_test
