#include "src/store/sqlite/loader.h"

#include <string>

#include "src/base/status.h"
#include "src/store/row_list.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

// Gives every row that `sql` finds to `make`, and what it makes to the visitor.
template <class Make>
absl::Status each(Connection& db, const std::string& sql, const LoadVisitor& visit, Make make) {
  ASSIGN_OR_RETURN(Statement rows, db.prepare(sql));
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
  RETURN_IF_ERROR(each_row_type([&]<class Row>(std::type_identity<Row>) {
    return each(db, load_sql<Row>(), visit, [](Statement& in) { return core::Put<Row>(core::read_row<Row>(in)); });
  }));
  ShapePool shapes;
  int64_t step = 0;
  return each(db, select_sql(kJobHot, "ORDER BY job"), visit,
              [&](Statement& in) { return core::PutJob{read_job(in, shapes, step)}; });
}

}  // namespace hodei::store
