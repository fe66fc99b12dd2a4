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
    // The texts come first: the rest of a row is decoded only where they match.
    std::string texts = "s.name, s.labels, s.correlation_id, s.template, s.retry_of";
    ASSIGN_OR_RETURN(rows_, db.prepare(cat("SELECT ", texts, ", ", column_list(table, "j."), " FROM ", table.name,
                                           " j CROSS JOIN spec s ON s.job = j.job", kConditions, in_states(query),
                                           " ORDER BY j.job DESC")));
    query_ = &query;
    finished_ = &table == &kJobDone;
    return absl::OkStatus();
  }

  absl::Status begin(uint64_t from, uint64_t below) {
    if (query_ == nullptr) return absl::OkStatus();
    rows_.reset();
    rows_.integer(static_cast<int64_t>(from));
    rows_.integer(static_cast<int64_t>(below));
    rows_.text(query_->ns);
    rows_.text(query_->worker);
    return next();
  }

  // To the next job that the query means.
  absl::Status next() {
    while (true) {
      ASSIGN_OR_RETURN(valid_, rows_.step());
      if (!valid_) return absl::OkStatus();
      view_.spec = {.name = std::string(rows_.text()), .labels = unpack_labels(rows_.bytes())};
      if (texts_match(*query_, view_.spec.name, view_.spec.labels)) break;
    }
    view_.spec.correlation_id = rows_.text();
    view_.spec.template_name = rows_.text();
    view_.spec.retry_of = JobId{static_cast<uint64_t>(rows_.integer())};
    int64_t second = 0;
    view_.head = std::move(*read_job(rows_, shapes_, second));
    view_.ended = WallTime{finished_ ? second : 0};
    view_.spec.job = view_.head.id;
    view_.spec.ns = view_.head.ns.str();
    return absl::OkStatus();
  }

  void end() {
    if (query_ != nullptr) rows_.reset();
    valid_ = false;
  }

  bool valid() const { return valid_; }
  JobView& view() { return view_; }

 private:
  Statement rows_;
  ShapePool shapes_;
  JobView view_;
  const JobQuery* query_ = nullptr;  // null: nothing of this table is asked for
  bool finished_ = false;
  bool valid_ = false;
};

// Adds what matches of the numbers in [from, below), read under one snapshot: else a job that ends meanwhile could be
// seen twice, or not at all.
absl::Status list_window(Connection& db, Cursor& hot, Cursor& done, uint64_t from, uint64_t below,
                         size_t limit, std::vector<JobView>& out) {
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(db));
  RETURN_IF_ERROR(hot.begin(from, below));
  RETURN_IF_ERROR(done.begin(from, below));
  while (out.size() < limit && (hot.valid() || done.valid())) {
    const bool take_hot = hot.valid() && (!done.valid() || hot.view().head.id > done.view().head.id);
    Cursor& newest = take_hot ? hot : done;
    out.push_back(std::move(newest.view()));
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
    RETURN_IF_ERROR(list_window(db, hot, done, from, below, query.limit, out));
    below = from;
  }
  return out;
}

}  // namespace hodei::store
