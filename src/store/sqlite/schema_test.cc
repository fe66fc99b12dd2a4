#include "src/store/sqlite/schema.h"

#include "src/base/text.h"
#include "src/store/conformance/store_suite.h"
#include "src/store/sqlite/sqlite_store.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store::sqlite_schema_test {
namespace {

using namespace core;
using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SqliteSchema, ATableOfANewRowTypeIsMadeWhenADatabaseIsOpened) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  ASSERT_EQ(Connection::open({.path = options.path()})->run("DROP TABLE idempotency"), absl::OkStatus());
  ASSERT_TRUE(SqliteStore::open(options).ok());
  Connection db = Connection::open({.path = options.path()}).value();
  EXPECT_EQ(db.ask_integer("SELECT count(*) FROM sqlite_master WHERE tbl_name = 'idempotency'").value(), 2)
      << "the table and its index";
}

TEST(SqliteSchema, ATableThatThisBinaryDoesNotKnowIsOfANewerOne) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  ASSERT_EQ(Connection::open({.path = options.path()})->run("CREATE TABLE schedule (n INTEGER)"), absl::OkStatus());
  const auto store = SqliteStore::open(options);
  EXPECT_EQ(store.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(store.status().ToString(), HasSubstr("'schedule'"));
}

// Puts a row into the table that settings of all kinds shared.
void put_setting(Connection& db, int kind, std::string_view name, const std::string& bytes) {
  Statement insert = db.prepare("INSERT INTO setting (kind, name, bytes) VALUES (?1, ?2, ?3)").value();
  insert.integer(kind);
  insert.text(name);
  insert.bytes(bytes);
  ASSERT_TRUE(insert.run().ok());
}

TEST(SqliteSchema, SettingsOfVersion5BecomeRowsOfTheirOwn) {
  TestFolder folder;
  const SqliteOptions options{.data_dir = folder.path()};
  ASSERT_TRUE(SqliteStore::open(options).ok());
  const ProviderRow provider{.name = "docker", .type = "docker", .options = {{"image", "debian"}}, .max_workers = 3};
  const PoolRow pool{.name = "builders", .provider = "docker", .min = 1, .max = 4};
  const TenantRow tenant{.ns = "red", .weight = 2.5, .max_running = 7};
  const KeyRule rule{.ns = "red", .key = "a/b", .limit = 3, .rate = 0.25, .burst = 9};
  {
    Connection db = Connection::open({.path = options.path()}).value();
    for (const char* table : {"provider", "pool", "tenant", "key_rule", "user_account", "user_group"}) {
      ASSERT_EQ(db.run(cat("DROP TABLE ", table)), absl::OkStatus());
    }
    ASSERT_EQ(db.run("CREATE TABLE setting (kind INTEGER NOT NULL, name TEXT NOT NULL, bytes BLOB NOT NULL, "
                     "PRIMARY KEY (kind, name), CHECK (kind > 0)) STRICT, WITHOUT ROWID"),
              absl::OkStatus());
    put_setting(db, 1, "docker", encode(provider));
    put_setting(db, 2, "builders", encode(pool));
    put_setting(db, 3, "red", encode(tenant));
    put_setting(db, 4, "red/a/b", encode(rule));
    ASSERT_EQ(db.run("UPDATE meta SET schema_version = 5"), absl::OkStatus());
  }
  const auto store = SqliteStore::open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(load_text(**store), ElementsAre(to_text(Put<ProviderRow>(provider)), to_text(Put<PoolRow>(pool)),
                                              to_text(Put<TenantRow>(tenant)), to_text(Put<KeyRule>(rule))));
  Connection db = Connection::open({.path = options.path()}).value();
  EXPECT_EQ(db.ask_integer("SELECT count(*) FROM sqlite_master WHERE name = 'setting'").value(), 0);
}

}  // namespace
}  // namespace hodei::store::sqlite_schema_test
