// The tables of the store, described once for every SQL backend: sql.h makes the statements of a dialect from this, and
// rows.h writes and reads rows in the order of these columns.
//
// Jobs have integer keys, live and finished ones are kept apart so that the hot table stays small, and nothing is
// ordered by wall time. Rows hold what lists filter by; the rest of a job's story is packed into `past`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "src/core/job/state.h"
#include "src/core/worker/state.h"

namespace hodei::store {

inline constexpr int kSchemaVersion = 5;

// Text may hold any bytes: what people send is stored as it came.
enum class ColumnType : uint8_t { Int, Real, Text, Bytes };

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::Int;
  bool nullable = false;
};

struct Index {
  std::string_view name;
  std::string_view columns;
};

struct Table {
  std::string_view name;
  std::span<const Column> columns;
  size_t key_columns = 1;       // the first ones
  std::string_view check = {};  // the guard that the database repeats
  std::span<const Index> indexes = {};
};

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

inline constexpr Column kWorkerColumns[] = {
    {"id", ColumnType::Text},
    {"state"},
    {"session", ColumnType::Bytes},
    {"used_otp", ColumnType::Bytes},
    {"incarnation", ColumnType::Text},
    {"stop_when_empty"},  // whether it has stopped; the name is of an earlier version
    {"registered"},
    {"info", ColumnType::Bytes},
};
inline constexpr Table kWorker{"worker", kWorkerColumns, 1, "state BETWEEN 1 AND 7"};
static_assert(static_cast<int>(core::WorkerState::Terminated) == 7);

inline constexpr Column kOtpColumns[] = {{"token", ColumnType::Bytes}, {"worker", ColumnType::Text}, {"expires"}};
inline constexpr Table kOtp{"otp", kOtpColumns};

inline constexpr Column kTemplateColumns[] = {
    {"ns", ColumnType::Text}, {"name", ColumnType::Text}, {"revision"}, {"updated"}, {"bytes", ColumnType::Bytes},
};
inline constexpr Table kTemplate{"template", kTemplateColumns, 2};

// `limit` is a word of SQL.
inline constexpr Column kKeyLimitColumns[] = {{"ns", ColumnType::Text}, {"key", ColumnType::Text}, {"max_active"}};
inline constexpr Table kKeyLimit{"key_limit", kKeyLimitColumns, 2};

inline constexpr Column kIdempotencyColumns[] = {{"key", ColumnType::Bytes}, {"job"}, {"expires"}, {"fingerprint"}};
inline constexpr Index kIdempotencyIndexes[] = {{"idempotency_expires", "expires"}};
inline constexpr Table kIdempotency{"idempotency", kIdempotencyColumns, 1, {}, kIdempotencyIndexes};

inline constexpr Column kSecretColumns[] = {
    {"ns", ColumnType::Text}, {"name", ColumnType::Text}, {"revision"}, {"updated"}, {"sealed", ColumnType::Bytes},
};
inline constexpr Table kSecret{"secret", kSecretColumns, 2};

inline constexpr Column kAuditColumns[] = {
    {"number"},
    {"at"},
    {"ns", ColumnType::Text},
    {"principal", ColumnType::Text},
    {"action", ColumnType::Text},
    {"subject", ColumnType::Text},
    {"detail", ColumnType::Text},
};
inline constexpr Table kAudit{"audit", kAuditColumns, 1, "number > 0"};

// What people set while it runs: providers, pools, shares of tenants, rates of keys. `kind` is core::SettingKind.
inline constexpr Column kSettingColumns[] = {{"kind"}, {"name", ColumnType::Text}, {"bytes", ColumnType::Bytes}};
inline constexpr Table kSetting{"setting", kSettingColumns, 2, "kind > 0"};

inline constexpr const Table* kTables[] = {&kMeta,  &kSpec,     &kJobHot,   &kJobDone,     &kWorker,
                                           &kOtp,   &kTemplate, &kKeyLimit, &kIdempotency, &kSecret,
                                           &kAudit, &kSetting,  &kJobLabel, &kExecution};

}  // namespace hodei::store
