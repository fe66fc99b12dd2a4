#include "src/store/sqlite/audit_list.h"

#include "src/base/status.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

// Entries looked at before it is asked whether there is time left.
constexpr uint64_t kEntriesPerLook = 10'000;

constexpr std::string_view kWanted =
    "WHERE number >= ?1 AND number < ?2 AND at >= ?3 AND (?4 = '' OR ns = ?4) AND (?5 = '' OR action = ?5) "
    "AND (?6 = '' OR subject = ?6) ORDER BY number DESC LIMIT ?7";

}  // namespace

absl::StatusOr<AuditPage> list_audit(Connection& db, const AuditQuery& query, const ReadLimit& limit) {
  ASSIGN_OR_RETURN(Statement rows, db.prepare(select_sql(kTableOf<core::AuditRow>, kWanted)));
  ASSIGN_OR_RETURN(const int64_t oldest, db.ask_integer("SELECT min(number) FROM audit"));
  ASSIGN_OR_RETURN(const int64_t newest, db.ask_integer("SELECT max(number) FROM audit"));
  uint64_t below = static_cast<uint64_t>(newest) + 1;
  if (query.before != 0) below = std::min(below, query.before);
  const auto end = static_cast<uint64_t>(oldest);
  AuditPage out;
  while (out.rows.size() < query.limit && below > end) {
    const uint64_t from = below - std::min(below - end, kEntriesPerLook);
    const InUse use(rows);
    rows.integer(static_cast<int64_t>(from));
    rows.integer(static_cast<int64_t>(below));
    rows.integer(query.since.is_set() ? query.since.us : INT64_MIN);
    for (const std::string* text : {&query.ns, &query.action, &query.subject}) rows.text(*text);
    rows.integer(static_cast<int64_t>(std::min<size_t>(query.limit - out.rows.size(), INT64_MAX)));
    while (true) {
      ASSIGN_OR_RETURN(const bool found, rows.step());
      if (!found) break;
      out.rows.push_back(core::read_row<core::AuditRow>(rows));
    }
    below = from;
    if (below > end && limit.is_out_of_time && limit.is_out_of_time()) {
      out.next = below;
      break;
    }
  }
  if (!out.rows.empty() && out.rows.size() == query.limit) out.next = out.rows.back().number;
  return out;
}

}  // namespace hodei::store
