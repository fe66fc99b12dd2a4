#include "src/store/sqlite/sqlite_store.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <utility>

#include "src/base/text.h"
#include "src/store/conformance/store_suite.h"
#include "src/store/rows.h"
#include "src/store/sql.h"
#include "src/store/sqlite/schema.h"
#include "src/store/sqlite/sqlite_reader.h"
#include "src/store/sqlite/test_folder.h"
#include "src/store/tables.h"

namespace hodei::store::sqlite_store_test {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

class SqliteUnderTest final : public StoreUnderTest {
 public:
  SqliteUnderTest() { open(); }
  Store& store() override { return *store_; }
  Reader& reader() override { return *reader_; }
  void reopen() override {
    reader_.reset();
    store_.reset();
    open();
  }

 private:
  void open() {
    store_ = SqliteStore::open({.data_dir = folder_.path()}).value();
    reader_ = SqliteReader::open({.data_dir = folder_.path()}).value();
  }
  TestFolder folder_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<SqliteReader> reader_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreSuite,
                         testing::Values(Backend{"Sqlite", [] { return std::make_unique<SqliteUnderTest>(); }}),
                         backend_name);

TEST(SqliteStore, TwoServersNeverShareADataFolder) {
  TestFolder folder;
  const auto first = SqliteStore::open({.data_dir = folder.path()});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = SqliteStore::open({.data_dir = folder.path()});
  EXPECT_EQ(second.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.status().ToString(), HasSubstr(folder.path() + "/server.lock"));
}

TEST(SqliteStore, TheFolderIsFreeAgainWhenTheStoreIsClosed) {
  TestFolder folder;
  const std::string id = SqliteStore::open({.data_dir = folder.path()}).value()->installation().value();
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(SqliteStore::open({.data_dir = folder.path()}).value()->installation().value(), id);
}

TEST(SqliteStore, AnErasedJobLeavesNoRowBehind) {
  TestFolder folder;
  const auto store = SqliteStore::open({.data_dir = folder.path()}).value();
  core::SpecRow spec = *a_spec(a_job(1));
  spec.labels = {{"team", "a"}, {"stage", "b"}};
  core::ArchivedExecution archived;
  archived.execution.number = 1;
  const core::Writes life = {core::PutSpec{std::make_shared<const core::SpecRow>(spec)}, live(a_job(1)),
                             core::PutExecution{JobId{1}, std::make_shared<const core::ArchivedExecution>(archived)},
                             finished(moved(a_job(1), core::JobState::Cancelled))};
  const Epoch epoch = store->new_epoch().value();
  ASSERT_EQ(store->commit(life, epoch, BatchNo{1}), absl::OkStatus());
  ASSERT_EQ(store->commit({core::EraseJob{JobId{1}}}, epoch, BatchNo{2}), absl::OkStatus());
  Connection db = Connection::open({.path = folder.path() + "/hodei.db", .read_only = true}).value();
  for (const char* table : {"spec", "job_hot", "job_done", "job_label", "execution"}) {
    EXPECT_EQ(db.ask_integer(cat("SELECT count(*) FROM ", table)).value(), 0) << table;
  }
}

TEST(SqliteStore, AReaderThatCouldNotOpenAConnectionOpensOneLater) {
  TestFolder folder;
  const auto store = SqliteStore::open({.data_dir = folder.path()}).value();
  const Epoch epoch = store->new_epoch().value();
  ASSERT_EQ(store->commit(entering(a_job(1)), epoch, BatchNo{1}), absl::OkStatus());
  ASSERT_EQ(store->commit(entering(a_job(100'000)), epoch, BatchNo{2}), absl::OkStatus());
  const auto reader = SqliteReader::open({.data_dir = folder.path()}, 2).value();
  const std::string file = folder.path() + "/hodei.db";
  bool tried = false;
  std::future<bool> second;
  // Asked between two blocks of the list, which holds the first connection meanwhile.
  const ReadLimit limit{.is_out_of_time = [&] {
    if (std::exchange(tried, true)) return false;
    std::filesystem::rename(file, file + ".away");
    EXPECT_FALSE(reader->job(JobId{1}).ok());
    std::filesystem::rename(file + ".away", file);
    second = std::async(std::launch::async, [&] { return reader->job(JobId{1}).ok(); });
    EXPECT_EQ(second.wait_for(20s), std::future_status::ready) << "it waits for a connection that is not there";
    return false;
  }};
  ASSERT_TRUE(reader->jobs({.name_contains = "nothing like it"}, limit).ok());
  ASSERT_TRUE(tried);
  EXPECT_TRUE(second.get());
}

TEST(SqliteStore, AMissingFolderIsNamed) {
  const auto store = SqliteStore::open({.data_dir = "/nonexistent/hodei"});
  EXPECT_EQ(store.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(store.status().ToString(), HasSubstr("/nonexistent/hodei"));
}

TEST(SqliteStore, ADamagedFileIsSaidToBeDamaged) {
  TestFolder folder;
  std::ofstream(folder.path() + "/hodei.db") << std::string(8192, 'x');
  const auto store = SqliteStore::open({.data_dir = folder.path()});
  EXPECT_EQ(store.status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(store.status().ToString(), HasSubstr(folder.path() + "/hodei.db"));
}

TEST(SqliteStore, ADatabaseOfANewerBinaryIsRefused) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  ASSERT_EQ(Connection::open({.path = options.path()})->run("UPDATE meta SET schema_version = 99"), absl::OkStatus());
  const auto store = SqliteStore::open(options);
  EXPECT_EQ(store.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(store.status().ToString(), HasSubstr("schema 99"));
}

TEST(SqliteStore, AnOlderDatabaseIsBroughtForwardStepByStep) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  Connection db = Connection::open({.path = options.path()}).value();
  constexpr int kNext = kSchemaVersion + 1;
  static constexpr Column kExtraColumns[] = {{"n"}};
  static constexpr Table kExtra{"extra", kExtraColumns};
  Schema later{kNext + 1, all_tables(), {}};
  later.tables.push_back(&kExtra);
  later.migrations = {{kSchemaVersion, {RunSql{"no SQL at all: never run"}}},
                      {kNext, {CreateTable{kExtra}}},
                      {kNext + 1, {RunSql{"INSERT INTO extra VALUES (7)"}}}};
  ASSERT_EQ(bring_up_to_date(db, later), absl::OkStatus());
  EXPECT_EQ(db.ask_integer("SELECT n FROM extra").value(), 7);
  EXPECT_EQ(db.ask_integer("SELECT schema_version FROM meta").value(), kNext + 1);
  ASSERT_EQ(bring_up_to_date(db, later), absl::OkStatus()) << "and only once";
  EXPECT_EQ(db.ask_integer("SELECT count(*) FROM extra").value(), 1);
}

// As the first release made it.
constexpr const char* kVersion1[] = {
    "CREATE TABLE meta (id INTEGER PRIMARY KEY NOT NULL, schema_version INTEGER NOT NULL, installation TEXT NOT NULL, "
    "epoch INTEGER NOT NULL, batch_no INTEGER NOT NULL, next_job INTEGER, scheduler BLOB, CHECK (id = 1)) STRICT",
    "CREATE TABLE spec (job INTEGER PRIMARY KEY NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL, labels BLOB NOT NULL, "
    "correlation_id TEXT NOT NULL, template TEXT NOT NULL, retry_of INTEGER NOT NULL, bytes BLOB NOT NULL, CHECK (job "
    "> 0)) "
    "STRICT",
    "CREATE TABLE job_hot (job INTEGER PRIMARY KEY NOT NULL, step INTEGER NOT NULL, ns TEXT NOT NULL, state INTEGER "
    "NOT NULL, "
    "last_worker TEXT NOT NULL, details BLOB NOT NULL, shape BLOB, past BLOB, CHECK (state BETWEEN 1 AND 3)) STRICT",
    "CREATE TABLE job_done (job INTEGER PRIMARY KEY NOT NULL, ended INTEGER NOT NULL, ns TEXT NOT NULL, state INTEGER "
    "NOT "
    "NULL, last_worker TEXT NOT NULL, details BLOB NOT NULL, shape BLOB, past BLOB, CHECK (state BETWEEN 4 AND 7)) "
    "STRICT",
    "CREATE TABLE worker (id TEXT NOT NULL, state INTEGER NOT NULL, session BLOB NOT NULL, used_otp BLOB NOT NULL, "
    "incarnation TEXT NOT NULL, stop_when_empty INTEGER NOT NULL, registered INTEGER NOT NULL, info BLOB NOT NULL, "
    "PRIMARY KEY (id), CHECK (state BETWEEN 1 AND 7)) STRICT, WITHOUT ROWID",
    "CREATE TABLE otp (token BLOB NOT NULL, worker TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (token)) "
    "STRICT, "
    "WITHOUT ROWID",
    "CREATE TABLE template (ns TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, updated INTEGER NOT NULL, "
    "bytes "
    "BLOB NOT NULL, PRIMARY KEY (ns, name)) STRICT, WITHOUT ROWID",
    "CREATE TABLE key_limit (ns TEXT NOT NULL, key TEXT NOT NULL, max_active INTEGER NOT NULL, PRIMARY KEY (ns, key)) "
    "STRICT, "
    "WITHOUT ROWID",
    "CREATE TABLE idempotency (key BLOB NOT NULL, job INTEGER NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (key)) "
    "STRICT, "
    "WITHOUT ROWID",
    "CREATE INDEX idempotency_expires ON idempotency (expires)",
    "INSERT INTO meta VALUES (1, 1, 'an installation', 4, 0, 12, NULL)",
    "INSERT INTO template VALUES ('default', 'kept', 1, 5, x'62')",
    "INSERT INTO idempotency VALUES (x'00000000000000000000000000000001', 9, 77)",
};

TEST(SqliteStore, ADatabaseOfVersion1IsBroughtForwardAndKeepsWhatItHad) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  {
    Connection db = Connection::open({.path = options.path()}).value();
    for (const char* sql : kVersion1) ASSERT_EQ(db.run(sql), absl::OkStatus()) << sql;
    core::SpecRow spec = *a_spec(a_job(3));
    spec.labels = {{"team", "a"}, {"stage", "b"}};
    Statement insert = db.prepare(insert_sql(kSpec, kSqlite)).value();
    write_spec(spec, insert);
    ASSERT_TRUE(insert.run().ok());
  }
  const auto store = SqliteStore::open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  const Epoch epoch = (*store)->new_epoch().value();
  EXPECT_EQ(static_cast<uint64_t>(epoch), 5u);
  const core::SecretRow secret{.ns = "default", .name = "s", .revision = 1, .updated = {6}, .sealed = "x"};
  ASSERT_EQ((*store)->commit({core::Put<core::SecretRow>{secret}, core::Put<core::AuditRow>{{.number = 1}}}, epoch,
                             BatchNo{1}),
            absl::OkStatus());
  const auto reader = SqliteReader::open(options).value();
  EXPECT_EQ(reader->secret("default", "s").value(), secret);
  EXPECT_EQ(reader->audit({}, {}).value().rows.size(), 1u);
  EXPECT_EQ(reader->job_template("default", "kept").value().bytes, "b");
  std::vector<core::IdempotencyRow> keys;
  ASSERT_TRUE((*store)
                  ->load([&](const core::Write& write) {
                    const auto* put = std::get_if<core::Put<core::IdempotencyRow>>(&write);
                    if (put != nullptr) keys.push_back(*put->row);
                  })
                  .ok());
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].job, JobId{9});
  EXPECT_EQ(keys[0].expires, WallTime{77});
  EXPECT_EQ(keys[0].fingerprint, 0u) << "what came with the key then is not known";
  // The same tables as those of a database that is made today.
  TestFolder fresh;
  const SqliteOptions new_options{.data_dir = fresh.path()};
  ASSERT_TRUE(SqliteStore::open(new_options).ok());
  const auto tables = [](const SqliteOptions& of) {
    Connection db = Connection::open({.path = of.path()}).value();
    Statement rows = db.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").value();
    std::vector<std::string> out;
    while (rows.step().value()) out.emplace_back(rows.text());
    return out;
  };
  EXPECT_EQ(tables(options), tables(new_options));
  Connection db = Connection::open({.path = options.path(), .read_only = true}).value();
  EXPECT_EQ(db.ask_integer("SELECT count(*) FROM job_label WHERE job = 3").value(), 2) << "jobs are found by them";
}

TEST(SqliteStore, AFailedMigrationLeavesTheDatabaseAsItWas) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  Connection db = Connection::open({.path = options.path()}).value();
  Schema later{kSchemaVersion + 1, all_tables(), {}};
  later.migrations = {{kSchemaVersion + 1, {RunSql{"CREATE TABLE extra (n INTEGER)"}, RunSql{"not SQL"}}}};
  EXPECT_FALSE(bring_up_to_date(db, later).ok());
  EXPECT_EQ(db.ask_integer("SELECT schema_version FROM meta").value(), kSchemaVersion);
  EXPECT_EQ(db.ask_integer("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").value(), 0);
}

TEST(SqliteStore, TheDatabaseItselfRefusesAStateInTheWrongTable) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  const auto store = SqliteStore::open(options).value();
  const Epoch epoch = store->new_epoch().value();
  ASSERT_EQ(store->commit(entering(a_job(1)), epoch, BatchNo{1}), absl::OkStatus());
  Connection db = Connection::open({.path = options.path()}).value();
  EXPECT_THAT(db.run("UPDATE job_hot SET state = 4").ToString(), HasSubstr("CHECK"));
  EXPECT_EQ(db.ask_integer("SELECT state FROM job_hot").value(), 1);
}

TEST(SqliteStore, JobsThatWereEqualShareTheirShapeAndLabelsAgainWhenTheyAreLoaded) {
  TestFolder folder;
  auto store = SqliteStore::open({.data_dir = folder.path()}).value();
  const Epoch epoch = store->new_epoch().value();
  core::Writes writes;
  for (uint64_t n = 1; n <= 3; ++n) {
    core::JobHead job = a_job(n);
    job.shape = a_shape("the same");
    job.labels = std::make_shared<const core::Labels>(core::Labels{{"team", "blue"}});
    for (const core::Write& write : entering(job)) writes.push_back(write);
  }
  ASSERT_TRUE(store->commit(writes, epoch, BatchNo{1}).ok());
  std::set<const void*> shapes, labels;
  ASSERT_TRUE(store
                  ->load([&](const core::Write& write) {
                    const auto* put = std::get_if<core::PutJob>(&write);
                    if (put == nullptr) return;
                    shapes.insert(put->job->shape.get());
                    labels.insert(put->job->labels.get());
                  })
                  .ok());
  EXPECT_EQ(shapes.size(), 1u);
  EXPECT_EQ(labels.size(), 1u);
}

TEST(SqliteStore, TellsTheRoomLeft) {
  TestFolder folder;
  const auto store = SqliteStore::open({.data_dir = folder.path()}).value();
  EXPECT_GT(store->free_bytes().value(), 0u);
}

}  // namespace
}  // namespace hodei::store::sqlite_store_test
