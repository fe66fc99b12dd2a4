#include "src/store/sqlite/job_list.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/store/job_facts.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

using core::JobState;

// Numbers looked at under one snapshot: well under a second, even if every row must be read and none matches.
constexpr uint64_t kWindow = 100'000;

// Parameters of the statements below.
constexpr std::string_view kConditions =
    " WHERE j.job >= ?1 AND j.job < ?2 AND (?3 = '' OR j.ns = ?3) AND (?4 = '' OR j.last_worker = ?4)";

std::string in_states(const JobQuery& query) {
  if (query.states.empty()) return "";
  std::string list;
  for (const JobState state : query.states) list += cat(list.empty() ? "" : ", ", static_cast<int>(state));
  return cat(" AND j.state IN (", list, ")");
}

bool asks_for(const JobQuery& query, bool finished) {
  return query.states.empty() ||
         std::ranges::any_of(query.states, [&](JobState s) { return core::is_terminal(s) == finished; });
}

// One of the two tables of jobs, read downwards. CROSS JOIN keeps the texts inside: only jobs that pass are looked up.
class Cursor {
 public:
  absl::Status prepare(Connection& db, const Table& table, const JobQuery& query) {
    std::string texts = "s.ns, s.name, s.labels, s.correlation_id, s.template, s.retry_of";
    ASSIGN_OR_RETURN(rows_, db.prepare(cat("SELECT ", column_list(table, "j."), ", ", texts, " FROM ", table.name,
                                           " j CROSS JOIN spec s ON s.job = j.job", kConditions, in_states(query),
                                           " ORDER BY j.job DESC")));
    used_ = true;
    finished_ = &table == &kJobDone;
    return absl::OkStatus();
  }

  absl::Status begin(uint64_t from, uint64_t below, const JobQuery& query) {
    if (!used_) return absl::OkStatus();
    rows_.reset();
    rows_.integer(static_cast<int64_t>(from));
    rows_.integer(static_cast<int64_t>(below));
    rows_.text(query.ns);
    rows_.text(query.worker);
    return next();
  }

  absl::Status next() {
    ASSIGN_OR_RETURN(valid_, rows_.step());
    if (!valid_) return absl::OkStatus();
    int64_t second = 0;
    view_.head = std::move(*read_job(rows_, shapes_, second));
    view_.ended = WallTime{finished_ ? second : 0};
    view_.spec = {};
    view_.spec.job = view_.head.id;
    view_.spec.ns = rows_.text();
    view_.spec.name = rows_.text();
    view_.spec.labels = unpack_labels(rows_.bytes());
    view_.spec.correlation_id = rows_.text();
    view_.spec.template_name = rows_.text();
    view_.spec.retry_of = JobId{static_cast<uint64_t>(rows_.integer())};
    return absl::OkStatus();
  }

  void end() {
    if (used_) rows_.reset();
    valid_ = false;
  }

  bool valid() const { return valid_; }
  JobView& view() { return view_; }

 private:
  Statement rows_;
  ShapePool shapes_;
  JobView view_;
  bool used_ = false;
  bool finished_ = false;
  bool valid_ = false;
};

// Adds what matches of the numbers in [from, below), read under one snapshot: else a job that ends meanwhile could be
// seen twice, or not at all.
absl::Status list_window(Connection& db, Cursor& hot, Cursor& done, uint64_t from, uint64_t below,
                         const JobQuery& query, std::vector<JobView>& out) {
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(db));
  RETURN_IF_ERROR(hot.begin(from, below, query));
  RETURN_IF_ERROR(done.begin(from, below, query));
  while (out.size() < query.limit && (hot.valid() || done.valid())) {
    const bool take_hot = hot.valid() && (!done.valid() || hot.view().head.id > done.view().head.id);
    Cursor& newest = take_hot ? hot : done;
    JobView& view = newest.view();
    if (texts_match(query, view.spec.name, view.spec.labels)) out.push_back(std::move(view));
    RETURN_IF_ERROR(newest.next());
  }
  hot.end();
  done.end();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<JobView>> list_jobs(Connection& db, const JobQuery& query) {
  Cursor hot;
  Cursor done;
  if (asks_for(query, false)) RETURN_IF_ERROR(hot.prepare(db, kJobHot, query));
  if (asks_for(query, true)) RETURN_IF_ERROR(done.prepare(db, kJobDone, query));
  ASSIGN_OR_RETURN(const int64_t oldest, db.ask_integer("SELECT min(job) FROM spec"));
  ASSIGN_OR_RETURN(const int64_t newest, db.ask_integer("SELECT max(job) FROM spec"));
  uint64_t below = static_cast<uint64_t>(newest) + 1;
  if (number(query.before) != 0) below = std::min(below, number(query.before));
  const auto end = static_cast<uint64_t>(oldest);
  std::vector<JobView> out;
  while (out.size() < query.limit && below > end) {
    const uint64_t from = below - std::min(below - end, kWindow);
    RETURN_IF_ERROR(list_window(db, hot, done, from, below, query, out));
    below = from;
  }
  return out;
}

}  // namespace hodei::store
