#include "src/store/sqlite/sqlite_store.h"

#include <filesystem>
#include <fstream>

#include "src/store/conformance/store_suite.h"
#include "src/store/sqlite/schema.h"
#include "src/store/sqlite/sqlite_reader.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store {
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
  const std::vector<Migration> steps = {{1, {"no SQL at all: never run"}},
                                        {2, {"CREATE TABLE extra (n INTEGER)"}},
                                        {3, {"INSERT INTO extra VALUES (7)"}}};
  ASSERT_EQ(bring_up_to_date(db, steps, 3), absl::OkStatus());
  EXPECT_EQ(db.ask_integer("SELECT n FROM extra").value(), 7);
  EXPECT_EQ(db.ask_integer("SELECT schema_version FROM meta").value(), 3);
  ASSERT_EQ(bring_up_to_date(db, steps, 3), absl::OkStatus()) << "and only once";
  EXPECT_EQ(db.ask_integer("SELECT count(*) FROM extra").value(), 1);
}

TEST(SqliteStore, AFailedMigrationLeavesTheDatabaseAsItWas) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  Connection db = Connection::open({.path = options.path()}).value();
  const std::vector<Migration> steps = {{2, {"CREATE TABLE extra (n INTEGER)", "not SQL"}}};
  EXPECT_FALSE(bring_up_to_date(db, steps, 2).ok());
  EXPECT_EQ(db.ask_integer("SELECT schema_version FROM meta").value(), 1);
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

TEST(SqliteStore, TellsTheRoomLeft) {
  TestFolder folder;
  const auto store = SqliteStore::open({.data_dir = folder.path()}).value();
  EXPECT_GT(store->free_bytes().value(), 0u);
}

}  // namespace
}  // namespace hodei::store
