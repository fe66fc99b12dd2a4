#include "src/store/schema.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::store::schema_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A database that writes down what it is told to do.
class Recording final : public SqlDatabase {
 public:
  Recording(const Dialect& dialect, std::vector<std::string> tables, int64_t version)
      : dialect_(dialect), tables_(std::move(tables)), version_(version) {}

  const Dialect& dialect() const override { return dialect_; }
  std::string name() const override { return "the database"; }
  absl::Status run(const std::string& sql) override {
    told.push_back(sql);
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> ask_integer(const std::string&) override { return version_; }
  absl::StatusOr<std::vector<std::string>> tables() override { return tables_; }
  absl::Status rewrite(const std::string& select, const std::string& insert, const RewriteRow&) override {
    told.push_back(select);
    told.push_back(insert);
    return absl::OkStatus();
  }

  std::vector<std::string> told;

 private:
  const Dialect& dialect_;
  std::vector<std::string> tables_;
  int64_t version_;
};

std::vector<std::string> names_of(const std::vector<const Table*>& tables) {
  std::vector<std::string> out;
  for (const Table* table : tables) out.emplace_back(table->name);
  return out;
}

TEST(Schema, ANewDatabaseHasTheTableOfEveryRowType) {
  Recording db(kPostgres, {}, 0);
  ASSERT_EQ(bring_up_to_date(db, current_schema()), absl::OkStatus());
  core::each_type(core::AllRows{}, [&]<class Row>(std::type_identity<Row>) {
    EXPECT_THAT(db.told, Contains(StartsWith(cat("CREATE TABLE ", core::RowType<Row>::table, " ("))));
  });
  EXPECT_THAT(db.told.back(), HasSubstr(cat("VALUES (1, ", kSchemaVersion, ", ")));
}

TEST(Schema, ADatabaseOfTodayIsLeftAlone) {
  Recording db(kSqlite, names_of(all_tables()), kSchemaVersion);
  ASSERT_EQ(bring_up_to_date(db, current_schema()), absl::OkStatus());
  EXPECT_THAT(db.told, testing::IsEmpty());
}

TEST(Schema, OldVersionsSpeakTheDialectOfTheirDatabase) {
  Recording db(kPostgres, names_of(all_tables()), 1);
  ASSERT_EQ(bring_up_to_date(db, current_schema()), absl::OkStatus());
  EXPECT_THAT(db.told, Contains(StartsWith("CREATE TABLE secret (ns BYTEA NOT NULL")));
  EXPECT_THAT(db.told, Contains("INSERT INTO key_rule (ns, key, bytes) VALUES ($1, $2, $3)"));
  for (const char* word : {"BLOB", "STRICT", "ROWID", "?", "sqlite"}) EXPECT_THAT(db.told, Each(Not(HasSubstr(word))));
}

TEST(Schema, VersionsFollowEachOtherWithoutAGap) {
  const Schema schema = current_schema();
  ASSERT_EQ(schema.migrations.size(), static_cast<size_t>(kSchemaVersion - 1));
  for (size_t i = 0; i < schema.migrations.size(); ++i) EXPECT_EQ(schema.migrations[i].to, static_cast<int>(i) + 2);
}

TEST(Schema, NoTwoRowTypesShareATable) {
  std::vector<std::string> names = names_of(all_tables());
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace hodei::store::schema_test
