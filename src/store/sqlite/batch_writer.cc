#include "src/store/sqlite/batch_writer.h"

#include "src/base/status.h"
#include "src/store/refusals.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

using namespace core;

constexpr const Dialect& kDialect = kSqlite;

int64_t key(JobId job) { return static_cast<int64_t>(number(job)); }

absl::Status done_or_error(absl::StatusOr<int> changed) { return changed.status(); }

// A row of a job. Keys and CHECKs of the tables are guards: what they refuse is an error of the caller.
absl::Status run_guarded(Connection& db, Statement& statement, JobId job) {
  const int code = statement.run_raw();
  if (code == SQLITE_DONE) return absl::OkStatus();
  if (code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID) return already_stored(job);
  if ((code & 0xff) == SQLITE_CONSTRAINT) return refused(job, sqlite3_errmsg(db.raw()));
  return sqlite_error(db.raw(), code);
}

template <class Row>
absl::Status prepare_row(Connection& db, RowStatements<Row>& statements) {
  ASSIGN_OR_RETURN(statements.put, db.prepare(put_sql<Row>(kDialect)));
  if (RowType<Row>::writing != Writing::PutAndErase) return absl::OkStatus();
  ASSIGN_OR_RETURN(statements.erase, db.prepare(delete_sql(kTableOf<Row>, kDialect)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BatchWriter> BatchWriter::prepare(Connection& db) {
  BatchWriter out;
  out.db_ = &db;
  // The stored row must not be further than the first write of this batch was.
  const std::string update_guard = cat("step <= ", parameter(kJobHot.columns.size() + 1, kDialect));
  const std::string delete_guard = cat("step <= ", parameter(2, kDialect));
  const struct {
    Statement* statement;
    std::string sql;
  } all[] = {
      {&out.insert_spec_, insert_sql(kSpec, kDialect)},
      {&out.insert_hot_, insert_sql(kJobHot, kDialect)},
      {&out.update_hot_, update_sql(kJobHot, kDialect, update_guard)},
      {&out.delete_hot_, delete_sql(kJobHot, kDialect, delete_guard)},
      {&out.insert_done_, insert_sql(kJobDone, kDialect)},
      {&out.insert_label_, insert_sql(kJobLabel, kDialect)},
      {&out.delete_label_, delete_sql(kJobLabel, kDialect)},
      {&out.insert_execution_, insert_sql(kExecution, kDialect)},
      {&out.drop_executions_, "DELETE FROM execution WHERE job = ?1 AND number < ?2"},
      {&out.hot_has_, "SELECT 1 FROM job_hot WHERE job = ?1"},
      {&out.labels_of_, "SELECT labels FROM spec WHERE job = ?1"},
      {&out.delete_spec_, delete_sql(kSpec, kDialect)},
      {&out.delete_done_, delete_sql(kJobDone, kDialect)},
      {&out.expire_audit_, "DELETE FROM audit WHERE at < ?1 AND number < (SELECT max(number) FROM audit)"},
      {&out.expire_idempotency_, "DELETE FROM idempotency WHERE expires < ?1"},
      {&out.erase_idempotency_, "DELETE FROM idempotency WHERE key = ?1 AND job = ?2"},
  };
  for (const auto& [statement, sql] : all) {
    ASSIGN_OR_RETURN(*statement, db.prepare(sql));
  }
  RETURN_IF_ERROR(each_row_type([&]<class Row>(std::type_identity<Row>) {
    return prepare_row<Row>(db, std::get<RowStatements<Row>>(out.rows_));
  }));
  return out;
}

// Table by table, each by growing number: neighbours in a batch are neighbours in the file.
absl::Status BatchWriter::write(const Batch& batch) {
  RETURN_IF_ERROR(write_specs(batch));
  RETURN_IF_ERROR(write_hot(batch));
  RETURN_IF_ERROR(write_done(batch));
  for (const Write* write : batch.others()) RETURN_IF_ERROR(write_other(*write));
  return absl::OkStatus();
}

absl::Status BatchWriter::write_specs(const Batch& batch) {
  for (const JobChange& change : batch.jobs()) {
    if (!change.enters()) continue;
    write_spec(*change.spec, insert_spec_);
    RETURN_IF_ERROR(run_guarded(*db_, insert_spec_, change.job));
    RETURN_IF_ERROR(write_labels(*change.spec));
  }
  return absl::OkStatus();
}

absl::Status BatchWriter::write_labels(const SpecRow& spec) {
  for (const auto& [name, value] : spec.labels) {
    write_label(spec.job, name, value, insert_label_);
    RETURN_IF_ERROR(run_guarded(*db_, insert_label_, spec.job));
  }
  return absl::OkStatus();
}

absl::Status BatchWriter::write_hot(const Batch& batch) {
  for (const JobChange& change : batch.jobs()) {
    if (change.enters()) {
      if (change.finished) continue;  // it came and went within this batch: never seen as live
      write_live(*change.last, insert_hot_);
      RETURN_IF_ERROR(run_guarded(*db_, insert_hot_, change.job));
      continue;
    }
    Statement& statement = change.finished ? delete_hot_ : update_hot_;
    change.finished ? statement.integer(key(change.job)) : write_live(*change.last, statement);
    statement.integer(static_cast<int64_t>(change.first_step));
    RETURN_IF_ERROR(run_guarded(*db_, statement, change.job));
    if (db_->changes() != 1) return not_live(change);
  }
  return absl::OkStatus();
}

absl::Status BatchWriter::write_done(const Batch& batch) {
  for (const JobChange& change : batch.jobs()) {
    if (!change.finished) continue;
    write_finished(*change.last, insert_done_);
    RETURN_IF_ERROR(run_guarded(*db_, insert_done_, change.job));
  }
  return absl::OkStatus();
}

absl::Status BatchWriter::archive(const PutExecution& put) {
  write_execution(put.job, *put.archived, insert_execution_);
  return run_guarded(*db_, insert_execution_, put.job);
}

absl::Status BatchWriter::erase_job(JobId job) {
  {
    const InUse use(hot_has_);
    hot_has_.integer(key(job));
    ASSIGN_OR_RETURN(const bool is_live, hot_has_.step());
    if (is_live) return refused(job, "a live job is not erased");
  }
  Labels labels;
  {
    const InUse use(labels_of_);
    labels_of_.integer(key(job));
    ASSIGN_OR_RETURN(const bool found, labels_of_.step());
    if (found) labels = unpack_labels(labels_of_.bytes());
  }
  for (const auto& [name, value] : labels) {
    write_label(job, name, value, delete_label_);
    RETURN_IF_ERROR(done_or_error(delete_label_.run()));
  }
  drop_executions_.integer(key(job));
  drop_executions_.integer(INT64_MAX);
  RETURN_IF_ERROR(done_or_error(drop_executions_.run()));
  delete_spec_.integer(key(job));
  RETURN_IF_ERROR(done_or_error(delete_spec_.run()));
  delete_done_.integer(key(job));
  return done_or_error(delete_done_.run());
}

// One statement for one write that is rare enough not to be folded.
struct BatchWriter::WriteOther {
  BatchWriter& w;
  absl::Status operator()(const PutExecution& p) const { return w.archive(p); }
  absl::Status operator()(const DropExecutions& p) const {
    w.drop_executions_.integer(key(p.job));
    w.drop_executions_.integer(p.below);
    return done_or_error(w.drop_executions_.run());
  }
  absl::Status operator()(const EraseJob& p) const { return w.erase_job(p.job); }
  template <class Row>
  absl::Status operator()(const Put<Row>& p) const {
    Statement& statement = std::get<RowStatements<Row>>(w.rows_).put;
    write_row(*p.row, statement);
    return done_or_error(statement.run());
  }
  template <class Row>
  absl::Status operator()(const Erase<Row>& p) const {
    Statement& statement = std::get<RowStatements<Row>>(w.rows_).erase;
    write_key<Row>(p.key, statement);
    return done_or_error(statement.run());
  }
  absl::Status operator()(const ExpireAudit& p) const {
    w.expire_audit_.integer(p.before.us);
    return done_or_error(w.expire_audit_.run());
  }
  absl::Status operator()(const ExpireIdempotency& p) const {
    w.expire_idempotency_.integer(p.before.us);
    return done_or_error(w.expire_idempotency_.run());
  }
  absl::Status operator()(const EraseIdempotency& p) const {
    w.erase_idempotency_.packed(pack(p.key));
    w.erase_idempotency_.integer(key(p.job));
    return done_or_error(w.erase_idempotency_.run());
  }
  absl::Status operator()(const PutSpec&) const { return folded(); }
  absl::Status operator()(const PutJob&) const { return folded(); }
  absl::Status operator()(const FinishJob&) const { return folded(); }
  absl::Status operator()(const PutScheduler&) const { return folded(); }
  absl::Status operator()(const PutNextJob&) const { return folded(); }
  static absl::Status folded() { return absl::InternalError("a write that Batch::fold should have taken"); }
};

absl::Status BatchWriter::write_other(const Write& write) { return std::visit(WriteOther{*this}, write); }

}  // namespace hodei::store
