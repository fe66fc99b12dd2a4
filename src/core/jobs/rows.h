// What is stored about jobs. Jobs, their specs and their executions are written so often that they have verbs, tables
// and statements of their own; the rest are rows like any other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/jobs/job.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// The request as received: written once and never changed.
struct SpecRow {
  JobId job{};
  std::string ns;
  std::string name;
  Labels labels;
  std::string correlation_id;
  std::string template_name;
  JobId retry_of{};   // 0: none
  std::string bytes;  // a serialized JobSpec
};

struct TemplateRow {
  std::string ns;
  std::string name;
  int64_t revision = 0;
  WallTime updated;
  std::string bytes;  // a serialized Template

  bool operator==(const TemplateRow&) const = default;
};

template <>
struct RowType<TemplateRow> : RowDefaults {
  static constexpr std::string_view table = "template";
  static constexpr auto columns =
      std::tuple(column::key("ns", &TemplateRow::ns), column::key("name", &TemplateRow::name),
                 column::value("revision", &TemplateRow::revision), column::value("updated", &TemplateRow::updated),
                 column::bytes("bytes", &TemplateRow::bytes));
};

struct IdempotencyRow {
  Hash128 key;  // hash of namespace and key
  JobId job{};
  WallTime expires;
  uint64_t fingerprint = 0;  // of the spec that came with the key; 0: unknown

  bool operator==(const IdempotencyRow&) const = default;
};

template <>
struct RowType<IdempotencyRow> : RowDefaults {
  static constexpr std::string_view table = "idempotency";
  static constexpr auto columns = std::tuple(
      column::key("key", &IdempotencyRow::key), column::value("job", &IdempotencyRow::job),
      column::value("expires", &IdempotencyRow::expires), column::value("fingerprint", &IdempotencyRow::fingerprint));
  static constexpr Index kIndexes[] = {{"idempotency_expires", "expires"}};
  static constexpr std::span<const Index> indexes = kIndexes;
  static constexpr Writing writing = Writing::PutOnly;
  static constexpr auto load_by = &IdempotencyRow::expires;
};

struct PutSpec {
  std::shared_ptr<const SpecRow> spec;
};
struct PutJob {
  JobPtr job;
};  // a live job: inserted or replaced
struct FinishJob {
  JobPtr job;
};  // moves from the table of live jobs to that of finished ones
// Archives an execution that has been followed by another. Written once.
struct PutExecution {
  JobId job{};
  std::shared_ptr<const ArchivedExecution> archived;
};
struct DropExecutions {
  JobId job{};
  uint32_t below = 0;
};  // those with lower numbers
struct EraseJob {
  JobId job{};
};  // a finished job, with its spec and executions; it need not exist
struct PutNextJob {
  uint64_t next = 1;
};
struct ExpireIdempotency {
  WallTime before;
};
struct EraseIdempotency {
  Hash128 key;
  JobId job{};
};  // only if it is this job's

using JobRows = TypeList<TemplateRow, IdempotencyRow>;
using JobVerbs = TypeList<PutSpec, PutJob, FinishJob, PutExecution, DropExecutions, EraseJob, PutNextJob,
                          ExpireIdempotency, EraseIdempotency>;

}  // namespace hodei::core
