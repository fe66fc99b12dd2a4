// Writes one folded batch through statements that stay prepared. Runs inside a transaction of its caller; on an error
// the caller rolls back.
#pragma once

#include "absl/status/status.h"
#include "src/store/batch.h"
#include "src/store/sqlite/connection.h"

namespace hodei::store {

class BatchWriter {
 public:
  static absl::StatusOr<BatchWriter> prepare(Connection& db);

  absl::Status write(const Batch& batch);

 private:
  BatchWriter() = default;
  absl::Status write_specs(const Batch& batch);
  absl::Status write_hot(const Batch& batch);
  absl::Status write_done(const Batch& batch);
  absl::Status write_labels(const core::SpecRow& spec);
  absl::Status write_other(const core::Write& write);
  absl::Status shelve(const core::PutExecution& put);
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
  Statement put_worker_;
  Statement delete_worker_;
  Statement put_otp_;
  Statement delete_otp_;
  Statement put_template_;
  Statement delete_template_;
  Statement put_key_limit_;
  Statement delete_key_limit_;
  Statement put_setting_;
  Statement delete_setting_;
  Statement put_secret_;
  Statement delete_secret_;
  Statement put_audit_;
  Statement expire_audit_;
  Statement put_idempotency_;
  Statement expire_idempotency_;
  Statement delete_idempotency_;
  Connection* db_ = nullptr;
};

}  // namespace hodei::store
