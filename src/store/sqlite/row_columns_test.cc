// A row with every kind of column goes through all that a descriptor is for: table, put, load, erase, copy in memory.
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/codec.h"
#include "src/base/ids.h"
#include "src/core/rows/row.h"
#include "src/store/conformance/row_samples.h"
#include "src/store/memory/row_copy.h"
#include "src/store/sql.h"
#include "src/store/sqlite/connection.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store::row_columns_test {

enum class Colour : uint8_t { Red = 1, Blue };

struct Inner {
  std::string name;
  int64_t count = 0;
  bool operator==(const Inner&) const = default;
};
inline std::string encode(const Inner& inner) { return Encoder().text(inner.name).i64(inner.count).take(); }
inline Inner decode_inner(std::string_view bytes) {
  Decoder in(bytes);
  Inner inner;
  inner.name = in.text();
  inner.count = in.i64();
  return inner;
}

struct EveryRow {
  Inner inner;
  WorkerId worker;
  JobId job{};
  int64_t whole = 0;
  uint64_t large = 0;
  uint32_t small = 0;
  bool flag = false;
  double part = 0;
  Colour colour = Colour::Red;
  WallTime at;
  Duration length{0};
  Hash128 hash;
  std::string text;
  std::string bytes;
  std::optional<std::string> perhaps;
  std::optional<int64_t> maybe;

  bool operator==(const EveryRow&) const = default;
};

struct InnerName {
  template <class Row>
  auto& operator()(Row& row) const {
    return row.inner.name;
  }
};

// All keys: there is nothing to replace.
struct PairRow {
  std::string left;
  std::string right;
  bool operator==(const PairRow&) const = default;
};

}  // namespace hodei::store::row_columns_test

namespace hodei::core {

template <>
struct RowType<store::row_columns_test::EveryRow> : RowDefaults {
  using Row = store::row_columns_test::EveryRow;
  static constexpr std::string_view table = "every";
  static constexpr auto columns = std::tuple(
      column::inner_key<Row>("name", store::row_columns_test::InnerName()), column::key("worker", &Row::worker),
      column::key("job", &Row::job), column::value("whole", &Row::whole), column::value("large", &Row::large),
      column::value("small", &Row::small), column::value("flag", &Row::flag), column::value("part", &Row::part),
      column::value("colour", &Row::colour), column::value("at", &Row::at), column::value("length", &Row::length),
      column::value("hash", &Row::hash), column::value("text", &Row::text), column::bytes("bytes", &Row::bytes),
      column::value("perhaps", &Row::perhaps), column::value("maybe", &Row::maybe),
      column::packed<store::row_columns_test::decode_inner>("inside", &Row::inner));
  static constexpr auto load_by = &Row::whole;
};

template <>
struct RowType<store::row_columns_test::PairRow> : RowDefaults {
  using Row = store::row_columns_test::PairRow;
  static constexpr std::string_view table = "pair";
  static constexpr auto columns = std::tuple(column::key("l", &Row::left), column::key("r", &Row::right));
};

}  // namespace hodei::core

namespace hodei::store::row_columns_test {
namespace {

using testing::ElementsAre;

EveryRow a_full_row() {
  return {.inner = {std::string(kNastyText), -3},
          .worker = WorkerId("w1"),
          .job = JobId{(uint64_t{1} << 60) - 1},
          .whole = INT64_MIN,
          .large = UINT64_MAX,
          .small = UINT32_MAX,
          .flag = true,
          .part = 1.0 / 3,
          .colour = Colour::Blue,
          .at = {-5},
          .length = Duration(7),
          .hash = hash128("x"),
          .text = std::string(kNastyText),
          .bytes = std::string(kNastyText),
          .perhaps = "",
          .maybe = std::nullopt};
}

class RowColumns : public testing::Test {
 protected:
  template <class Row>
  void make_table() {
    for (const std::string& sql : create_sql(kTableOf<Row>, kSqlite)) ASSERT_EQ(db_.run(sql), absl::OkStatus()) << sql;
  }
  template <class Row>
  void put(const Row& row) {
    Statement statement = db_.prepare(put_sql<Row>(kSqlite)).value();
    core::write_row(row, statement);
    ASSERT_TRUE(statement.run().ok());
  }
  template <class Row>
  void erase(const core::KeyOf<Row>& key) {
    Statement statement = db_.prepare(delete_sql(kTableOf<Row>, kSqlite)).value();
    core::write_key<Row>(key, statement);
    ASSERT_TRUE(statement.run().ok());
  }
  template <class Row>
  std::vector<Row> load() {
    Statement rows = db_.prepare(load_sql<Row>()).value();
    std::vector<Row> out;
    while (rows.step().value()) out.push_back(core::read_row<Row>(rows));
    return out;
  }

  TestFolder folder_;
  Connection db_ = Connection::open({.path = folder_.path() + "/rows.db"}).value();
};

TEST_F(RowColumns, EveryKindSurvivesACopy) {
  const EveryRow row = a_full_row();
  EXPECT_EQ(*through_columns(row), row);
  EXPECT_EQ(*through_columns(EveryRow{}), EveryRow{});
}

TEST_F(RowColumns, EveryKindSurvivesSqlite) {
  make_table<EveryRow>();
  const EveryRow row = a_full_row();
  put(row);
  EXPECT_THAT(load<EveryRow>(), ElementsAre(row));
  EveryRow other = row;
  other.perhaps = std::nullopt;
  other.maybe = -1;
  put(other);
  EXPECT_THAT(load<EveryRow>(), ElementsAre(other)) << "the key is the same";
}

TEST_F(RowColumns, ARowIsErasedByAllPartsOfItsKey) {
  make_table<EveryRow>();
  const EveryRow row = a_full_row();
  put(row);
  erase<EveryRow>({row.inner.name, row.worker, JobId{1}});
  EXPECT_THAT(load<EveryRow>(), ElementsAre(row));
  erase<EveryRow>(core::key_of(row));
  EXPECT_THAT(load<EveryRow>(), testing::IsEmpty());
}

TEST_F(RowColumns, TheGreatestOfTheNamedMemberIsLoadedFirst) {
  make_table<EveryRow>();
  for (const int64_t whole : {3, 9, 5}) put(EveryRow{.job = JobId{static_cast<uint64_t>(whole)}, .whole = whole});
  std::vector<int64_t> order;
  for (const EveryRow& row : load<EveryRow>()) order.push_back(row.whole);
  EXPECT_THAT(order, ElementsAre(9, 5, 3));
}

TEST_F(RowColumns, ARowOfNothingButKeysMayBePutTwice) {
  make_table<PairRow>();
  const PairRow row{"a", "b"};
  put(row);
  put(row);
  EXPECT_THAT(load<PairRow>(), ElementsAre(row));
}

TEST_F(RowColumns, ColumnsHaveTheTypesOfTheDialect) {
  const std::string sqlite = create_sql(kTableOf<EveryRow>, kSqlite).at(0);
  EXPECT_THAT(sqlite, testing::HasSubstr("part REAL NOT NULL"));
  EXPECT_THAT(sqlite, testing::HasSubstr("perhaps TEXT, maybe INTEGER, inside BLOB NOT NULL"));
  EXPECT_THAT(sqlite, testing::HasSubstr("PRIMARY KEY (name, worker, job)"));
  EXPECT_THAT(create_sql(kTableOf<EveryRow>, kPostgres).at(0), testing::HasSubstr("part DOUBLE PRECISION NOT NULL"));
}

}  // namespace
}  // namespace hodei::store::row_columns_test
