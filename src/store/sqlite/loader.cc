#include "src/store/sqlite/loader.h"

#include "src/base/status.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

// Every row of a table by its key, as `make(row)` of it.
template <class Make>
absl::Status each(Connection& db, const Table& table, std::string_view order, const LoadVisitor& visit, Make make) {
  ASSIGN_OR_RETURN(Statement rows, db.prepare(select_sql(table, cat("ORDER BY ", order))));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return absl::OkStatus();
    visit(make(rows));
  }
}

absl::Status load_meta(Connection& db, const LoadVisitor& visit) {
  ASSIGN_OR_RETURN(Statement meta, db.prepare("SELECT scheduler, next_job FROM meta"));
  ASSIGN_OR_RETURN(const bool found, meta.step());
  if (!found) return absl::InternalError("the table `meta` has lost its row");
  if (const std::string_view scheduler = meta.bytes(); !scheduler.empty()) {
    visit(core::PutScheduler{unpack_scheduler(scheduler)});
  }
  if (!meta.next_is_null()) visit(core::PutNextJob{static_cast<uint64_t>(meta.integer())});
  return absl::OkStatus();
}

}  // namespace

absl::Status load_everything(Connection& db, const LoadVisitor& visit) {
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(db));
  RETURN_IF_ERROR(load_meta(db, visit));
  RETURN_IF_ERROR(
      each(db, kAudit, "number DESC LIMIT 1", visit, [](RowIn& in) { return core::PutAudit{read_audit(in)}; }));
  RETURN_IF_ERROR(
      each(db, kSetting, "kind, name", visit, [](RowIn& in) { return core::PutSetting{read_setting(in)}; }));
  RETURN_IF_ERROR(each(db, kSecret, "ns, name", visit, [](RowIn& in) { return core::PutSecret{read_secret(in)}; }));
  RETURN_IF_ERROR(
      each(db, kTemplate, "ns, name", visit, [](RowIn& in) { return core::PutTemplate{read_template(in)}; }));
  RETURN_IF_ERROR(
      each(db, kKeyLimit, "ns, key", visit, [](RowIn& in) { return core::PutKeyLimit{read_key_limit(in)}; }));
  RETURN_IF_ERROR(each(db, kOtp, "token", visit, [](RowIn& in) { return core::PutOtp{read_otp(in)}; }));
  // The newest first: the engine keeps those, and has the others in the store alone.
  RETURN_IF_ERROR(each(db, kIdempotency, "expires DESC, key", visit,
                       [](RowIn& in) { return core::PutIdempotency{read_idempotency(in)}; }));
  RETURN_IF_ERROR(each(db, kWorker, "id", visit, [](RowIn& in) { return core::PutWorker{read_worker(in)}; }));
  ShapePool shapes;
  int64_t step = 0;
  return each(db, kJobHot, "job", visit, [&](RowIn& in) { return core::PutJob{read_job(in, shapes, step)}; });
}

}  // namespace hodei::store
