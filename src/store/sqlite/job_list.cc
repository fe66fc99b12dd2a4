#include "src/store/sqlite/job_list.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/store/job_facts.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

using core::JobState;

std::string state_list(const JobQuery& query, bool finished) {
  std::string list;
  for (int state = static_cast<int>(JobState::Pending); state <= static_cast<int>(JobState::Timeout); ++state) {
    const auto one = static_cast<JobState>(state);
    const bool wanted = query.states.empty() || std::ranges::find(query.states, one) != query.states.end();
    if (wanted && core::is_terminal(one) == finished) list += cat(list.empty() ? "" : ", ", state);
  }
  return list;
}

// The numbers of jobs in one block that may be meant; which of them are, their rows tell. A block is small, so one look
// at it is short whatever is asked for, and the caller decides after each whether to go on.
class Candidates {
 public:
  absl::Status prepare(Connection& db, const JobQuery& query) {
    query_ = &query;
    if (!query.labels.empty()) {
      return add(db, "SELECT job FROM job_label WHERE block = ?1 AND hash = ?2 AND job < ?3", Kind::Label);
    }
    if (!query.name_contains.empty()) {
      return add(db,
                 "SELECT job FROM spec INDEXED BY spec_name WHERE (job >> 13) = ?1 AND job < ?3 "
                 "AND instr(CAST(name AS BLOB), ?2) > 0",
                 Kind::Name);
    }
    for (const bool finished : {false, true}) {
      const std::string states = state_list(query, finished);
      if (states.empty()) continue;
      const std::string_view index = query.ns.empty() ? " INDEXED BY job_done_state" : " INDEXED BY job_done_ns";
      const bool by_index = finished && (!query.ns.empty() || !query.states.empty());
      RETURN_IF_ERROR(
          add(db,
              cat("SELECT job FROM ", finished ? "job_done" : "job_hot", by_index ? index : "",
                  " WHERE job >= ?1 AND job < ?2 AND state IN (", states, ")", query.ns.empty() ? "" : " AND ns = ?3",
                  query.worker.empty() ? "" : " AND last_worker = ?4", " ORDER BY job DESC LIMIT ?5"),
              Kind::Row));
    }
    return absl::OkStatus();
  }

  // Of the numbers in [from, below), which are all of one block: by falling number. `wanted`: more are of no use,
  // unless some turn out not to be meant.
  absl::StatusOr<std::vector<JobId>> find(uint64_t from, uint64_t below, size_t wanted) {
    std::vector<JobId> out;
    for (auto& [rows, kind] : statements_) {
      const InUse use(rows);
      bind(rows, kind, from, below, wanted);
      while (true) {
        ASSIGN_OR_RETURN(const bool found, rows.step());
        if (!found) break;
        out.push_back(JobId{static_cast<uint64_t>(rows.integer())});
      }
    }
    std::ranges::sort(out, std::greater());
    return out;
  }

 private:
  enum class Kind : uint8_t { Label, Name, Row };

  absl::Status add(Connection& db, const std::string& sql, Kind kind) {
    ASSIGN_OR_RETURN(Statement rows, db.prepare(sql));
    statements_.emplace_back(std::move(rows), kind);
    return absl::OkStatus();
  }

  void bind(Statement& rows, Kind kind, uint64_t from, uint64_t below, size_t wanted) const {
    const auto last = static_cast<int64_t>(below);
    if (kind == Kind::Row) {
      rows.integer(static_cast<int64_t>(from));
      rows.integer(last);
      query_->ns.empty() ? rows.null() : rows.text(query_->ns);
      query_->worker.empty() ? rows.null() : rows.text(query_->worker);
      rows.integer(static_cast<int64_t>(std::min<size_t>(wanted, INT64_MAX)));
      return;
    }
    rows.integer(block_of(JobId{from}));
    if (kind == Kind::Label) {
      const auto& [name, value] = *query_->labels.begin();
      rows.integer(label_hash(name, value));
    } else {
      rows.bytes(query_->name_contains);
    }
    rows.integer(last);
  }

  const JobQuery* query_ = nullptr;
  std::vector<std::pair<Statement, Kind>> statements_;
};

// A job by its number, from whichever table has it.
class Lookup {
 public:
  absl::Status prepare(Connection& db) {
    // The texts come first: the rest of a row is decoded only where they match.
    const std::string texts = "s.name, s.labels, s.correlation_id, s.template, s.retry_of";
    for (const Table* table : {&kJobHot, &kJobDone}) {
      ASSIGN_OR_RETURN(rows_[table == &kJobDone],
                       db.prepare(cat("SELECT ", texts, ", ", column_list(*table, "j."), " FROM ", table->name,
                                      " j CROSS JOIN spec s ON s.job = j.job WHERE j.job = ?1")));
    }
    return absl::OkStatus();
  }

  // True and the job in `view` if the query means it.
  absl::StatusOr<bool> find(JobId job, const JobQuery& query, JobView& view) {
    for (const bool finished : {false, true}) {
      Statement& row = rows_[finished];
      const InUse use(row);
      row.integer(static_cast<int64_t>(number(job)));
      ASSIGN_OR_RETURN(const bool found, row.step());
      if (found) return read(row, finished, query, view);
    }
    return false;
  }

 private:
  bool read(Statement& row, bool finished, const JobQuery& query, JobView& view) {
    view = {};
    view.spec.name = row.text();
    view.spec.labels = unpack_labels(row.bytes());
    if (!texts_match(query, view.spec.name, view.spec.labels)) return false;
    view.spec.correlation_id = row.text();
    view.spec.template_name = row.text();
    view.spec.retry_of = JobId{static_cast<uint64_t>(row.integer())};
    int64_t second = 0;
    view.head = std::move(*read_job(row, shapes_, second));
    view.ended = WallTime{finished ? second : 0};
    view.spec.job = view.head.id;
    view.spec.ns = view.head.ns.str();
    return head_matches(query, view.head);
  }

  Statement rows_[2];
  ShapePool shapes_;
};

// Adds what matches of the numbers in [from, below), read under one snapshot: else a job that ends meanwhile could be
// seen twice, or not at all.
absl::Status list_block(Connection& db, Candidates& candidates, Lookup& lookup, const JobQuery& query, uint64_t from,
                        uint64_t below, std::vector<JobView>& out) {
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(db));
  ASSIGN_OR_RETURN(const std::vector<JobId> found, candidates.find(from, below, query.limit - out.size()));
  JobView view;
  for (const JobId job : found) {
    if (out.size() == query.limit) break;
    ASSIGN_OR_RETURN(const bool meant, lookup.find(job, query, view));
    if (meant) out.push_back(std::move(view));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JobPage> list_jobs(Connection& db, const JobQuery& query, const ReadLimit& limit) {
  Candidates candidates;
  Lookup lookup;
  RETURN_IF_ERROR(candidates.prepare(db, query));
  RETURN_IF_ERROR(lookup.prepare(db));
  ASSIGN_OR_RETURN(const int64_t oldest, db.ask_integer("SELECT min(job) FROM spec"));
  ASSIGN_OR_RETURN(const int64_t newest, db.ask_integer("SELECT max(job) FROM spec"));
  uint64_t below = static_cast<uint64_t>(newest) + 1;
  if (number(query.before) != 0) below = std::min(below, number(query.before));
  const auto end = static_cast<uint64_t>(oldest);
  JobPage out;
  while (out.jobs.size() < query.limit && below > end) {
    const uint64_t from = (below - 1) >> kBlockBits << kBlockBits;
    RETURN_IF_ERROR(list_block(db, candidates, lookup, query, from, below, out.jobs));
    below = from;
    if (below > end && limit.is_out_of_time && limit.is_out_of_time()) {
      out.next = JobId{below};
      break;
    }
  }
  if (!out.jobs.empty() && out.jobs.size() == query.limit) out.next = out.jobs.back().head.id;
  return out;
}

}  // namespace hodei::store
