// The tables of the store, described once for every SQL backend: sql.h makes the statements of a dialect from this.
//
// Most tables are made from the descriptors of rows (core/rows/row.h). Those of jobs are written out here, because they
// are written most often: jobs have integer keys, live and finished ones are kept apart so that the hot table stays
// small, and nothing is ordered by wall time. Rows hold what lists filter by; the rest of a job's story is packed into
// `past`. rows.h writes and reads them in the order of these columns.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/core/jobs/state.h"
#include "src/core/rows/row.h"
#include "src/core/writes.h"

namespace hodei::store {

using core::ColumnType;
using core::Index;

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::Int;
  bool nullable = false;
};

struct Table {
  std::string_view name;
  std::span<const Column> columns;
  size_t key_columns = 1;       // the first ones
  std::string_view check = {};  // the guard that the database repeats
  std::span<const Index> indexes = {};
};

template <class Row>
constexpr std::array<Column, core::column_count<Row>> columns_of() {
  std::array<Column, core::column_count<Row>> out{};
  size_t at = 0;
  core::each_column<Row>([&](const auto& column) {
    using Stored = typename std::remove_cvref_t<decltype(column)>::Stored;
    out[at++] = {column.name, Stored::type, Stored::nullable};
  });
  return out;
}

template <class Row>
constexpr bool keys_come_first() {
  bool good = true;
  bool is_key = true;
  core::each_column<Row>([&](const auto& column) {
    good = good && (is_key || !column.is_key);
    is_key = column.is_key;
  });
  return good && core::key_column_count<Row>() > 0;
}

template <class Row>
inline constexpr auto kColumnsOf = columns_of<Row>();

// The table of a row type.
template <class Row>
requires(keys_come_first<Row>()) inline constexpr Table kTableOf{
    core::RowType<Row>::table, kColumnsOf<Row>, core::key_column_count<Row>(), core::RowType<Row>::check,
    core::RowType<Row>::indexes};

// One row: who may commit, what came last, and settings there is one of.
inline constexpr Column kMetaColumns[] = {
    {"id"},
    {"schema_version"},
    {"installation", ColumnType::Text},
    {"epoch"},
    {"batch_no"},
    {"next_job", ColumnType::Int, true},
    {"scheduler", ColumnType::Bytes, true},
};
inline constexpr Table kMeta{"meta", kMetaColumns, 1, "id = 1"};

inline constexpr Column kSpecColumns[] = {
    {"job"},
    {"ns", ColumnType::Text},
    {"name", ColumnType::Text},
    {"labels", ColumnType::Bytes},
    {"correlation_id", ColumnType::Text},
    {"template", ColumnType::Text},
    {"retry_of"},
    {"bytes", ColumnType::Bytes},
};
// Texts are looked for block by block: an index over all jobs would be written all over with every submission, one that
// begins with the block only in the part of the newest block, which stays in memory.
inline constexpr uint64_t kBlockBits = 13;
inline constexpr Index kSpecIndexes[] = {{"spec_name", "(job >> 13), name"}};
inline constexpr Table kSpec{"spec", kSpecColumns, 1, "job > 0", kSpecIndexes};

// One row per label of a job: the hash of key and value, under the block of the job.
inline constexpr Column kJobLabelColumns[] = {{"block"}, {"hash"}, {"job"}};
inline constexpr Table kJobLabel{"job_label", kJobLabelColumns, 3};

// Executions that others have followed. `log_bytes` is what its worker said that it printed; -1: it did not say.
inline constexpr Column kExecutionColumns[] = {
    {"job"},
    {"number"},
    {"log_bytes"},
    {"bytes", ColumnType::Bytes},
};
inline constexpr Table kExecution{"execution", kExecutionColumns, 2, "number > 0"};

// The two tables of jobs differ in their second column only: how far a live job is, or when a finished one ended.
// What no statement reads is packed into `details`: every column of a row has its price, and a new field needs no
// migration.
constexpr std::array<Column, 8> job_columns(std::string_view second) {
  return {{
      {"job"},
      {second},
      {"ns", ColumnType::Text},
      {"state"},
      {"last_worker", ColumnType::Text},
      {"details", ColumnType::Bytes},
      {"shape", ColumnType::Bytes, true},
      {"past", ColumnType::Bytes, true},
  }};
}
inline constexpr auto kHotColumns = job_columns("step");
inline constexpr auto kDoneColumns = job_columns("ended");
inline constexpr Table kJobHot{"job_hot", kHotColumns, 1, "state BETWEEN 1 AND 3"};
// An index of SQLite ends with the number of its row, so these list the jobs of a namespace or a state by number. A new
// row goes to the end of its group: few pages change, whatever the size of the table.
inline constexpr Index kDoneIndexes[] = {{"job_done_ns", "ns, state"}, {"job_done_state", "state"}};
inline constexpr Table kJobDone{"job_done", kDoneColumns, 1, "state BETWEEN 4 AND 7", kDoneIndexes};
static_assert(static_cast<int>(core::JobState::Pending) == 1 && static_cast<int>(core::JobState::Running) == 3);
static_assert(static_cast<int>(core::JobState::Succeeded) == 4 && static_cast<int>(core::JobState::Timeout) == 7);

// Of jobs, and the one row that all tables share.
inline constexpr const Table* kOwnTables[] = {&kMeta, &kSpec, &kJobHot, &kJobDone, &kJobLabel, &kExecution};

inline std::vector<const Table*> all_tables() {
  std::vector<const Table*> out(std::begin(kOwnTables), std::end(kOwnTables));
  core::each_type(core::AllRows{}, [&]<class Row>(std::type_identity<Row>) { out.push_back(&kTableOf<Row>); });
  return out;
}

}  // namespace hodei::store
