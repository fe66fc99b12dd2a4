// Writes one folded batch through statements that stay prepared. Runs inside a transaction of its caller; on an error
// the caller rolls back.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/store/batch.h"
#include "src/store/row_list.h"
#include "src/store/sqlite/connection.h"

namespace hodei::store {

// Of one row type. What is never erased by key has no `erase`.
template <class Row>
struct RowStatements {
  Statement put;
  Statement erase;
};

class BatchWriter {
 public:
  static absl::StatusOr<BatchWriter> prepare(Connection& db);

  absl::Status write(const Batch& batch);

 private:
  struct WriteOther;
  BatchWriter() = default;
  absl::Status write_specs(const Batch& batch);
  absl::Status write_hot(const Batch& batch);
  absl::Status write_done(const Batch& batch);
  absl::Status write_labels(const core::SpecRow& spec);
  absl::Status write_other(const core::Write& write);
  absl::Status archive(const core::PutExecution& put);
  absl::Status erase_job(JobId job);

  Statement insert_spec_;
  Statement insert_hot_;
  Statement update_hot_;
  Statement delete_hot_;
  Statement insert_done_;
  Statement insert_label_;
  Statement delete_label_;
  Statement insert_execution_;
  Statement drop_executions_;
  Statement hot_has_;
  Statement labels_of_;
  Statement delete_spec_;
  Statement delete_done_;
  Statement expire_audit_;
  Statement expire_idempotency_;
  Statement erase_idempotency_;
  OnePerRow<RowStatements> rows_;
  Connection* db_ = nullptr;
};

}  // namespace hodei::store
