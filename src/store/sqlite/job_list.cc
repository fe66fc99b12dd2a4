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
    label_hashes_ = hashes_of(query);
    const std::string by_name =
        "SELECT job FROM spec INDEXED BY spec_name WHERE (job >> 13) = ?1 AND job >= ?3 AND job < ?4 AND ";
    if (!query.name.empty()) return add(db, cat(by_name, "name = ?2"), Kind::ExactName);
    if (!label_hashes_.empty()) {
      return add(db, "SELECT job FROM job_label WHERE block = ?1 AND hash = ?2 AND job >= ?3 AND job < ?4",
                 Kind::Label);
    }
    if (!query.name_contains.empty()) {
      return add(db, cat(by_name, "instr(CAST(name AS BLOB), ?2) > 0"), Kind::Name);
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
                  query.worker.empty() ? "" : " AND last_worker = ?4", " ORDER BY job ",
                  query.oldest_first ? "" : "DESC ", "LIMIT ?5"),
              Kind::Row));
    }
    return absl::OkStatus();
  }

  // Of the numbers in [from, below), which are all of one block, in the order of the list. `wanted`: more are of no use
  // where every row that is found is meant.
  absl::StatusOr<std::vector<JobId>> find(uint64_t from, uint64_t below, size_t wanted) {
    if (!query_->rules.empty() || query_->since.is_set() || query_->until.is_set()) wanted = SIZE_MAX;
    std::vector<JobId> out;
    for (auto& [rows, kind] : statements_) {
      if (kind != Kind::Label) {
        bind(rows, kind, from, below, wanted);
        RETURN_IF_ERROR(collect(rows, out));
        continue;
      }
      for (const int64_t hash : label_hashes_) {
        bind_block(rows, from, below, [&all = rows, hash] { all.integer(hash); });
        RETURN_IF_ERROR(collect(rows, out));
      }
    }
    query_->oldest_first ? std::ranges::sort(out) : std::ranges::sort(out, std::greater());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  enum class Kind : uint8_t { Label, Name, ExactName, Row };

  // Of the labels one of which every job that is meant has; empty: the query names none.
  static std::vector<int64_t> hashes_of(const JobQuery& query) {
    if (!query.labels.empty()) return {label_hash(query.labels.begin()->first, query.labels.begin()->second)};
    std::vector<int64_t> out;
    const auto rule =
        std::ranges::find_if(query.rules, [](const core::LabelRule& r) { return r.op == core::LabelOperator::In; });
    if (rule == query.rules.end()) return out;
    for (const std::string& value : rule->values) out.push_back(label_hash(rule->key, value));
    return out;
  }

  static absl::Status collect(Statement& rows, std::vector<JobId>& out) {
    const InUse use(rows);
    while (true) {
      ASSIGN_OR_RETURN(const bool found, rows.step());
      if (!found) return absl::OkStatus();
      out.push_back(JobId{static_cast<uint64_t>(rows.integer())});
    }
  }

  absl::Status add(Connection& db, const std::string& sql, Kind kind) {
    ASSIGN_OR_RETURN(Statement rows, db.prepare(sql));
    statements_.emplace_back(std::move(rows), kind);
    return absl::OkStatus();
  }

  template <class Middle>
  static void bind_block(Statement& rows, uint64_t from, uint64_t below, const Middle& middle) {
    rows.integer(block_of(JobId{from}));
    middle();
    rows.integer(static_cast<int64_t>(from));
    rows.integer(static_cast<int64_t>(below));
  }

  void bind(Statement& rows, Kind kind, uint64_t from, uint64_t below, size_t wanted) const {
    if (kind == Kind::Row) {
      rows.integer(static_cast<int64_t>(from));
      rows.integer(static_cast<int64_t>(below));
      query_->ns.empty() ? rows.null() : rows.text(query_->ns);
      query_->worker.empty() ? rows.null() : rows.text(query_->worker);
      rows.integer(static_cast<int64_t>(std::min<size_t>(wanted, INT64_MAX)));
      return;
    }
    bind_block(rows, from, below,
               [&] { kind == Kind::ExactName ? rows.text(query_->name) : rows.bytes(query_->name_contains); });
  }

  const JobQuery* query_ = nullptr;
  std::vector<int64_t> label_hashes_;
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

  // When a job was submitted; not set: there is none of this number.
  absl::StatusOr<WallTime> created(JobId job) {
    JobView view;
    ASSIGN_OR_RETURN(const bool found, find(job, JobQuery{}, view));
    return found ? view.head.created : WallTime{};
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

// The numbers that a list goes through.
struct Numbers {
  uint64_t from = 0;
  uint64_t below = 0;
};

// The first of the numbers whose job was submitted at `time` or later. Numbers are given in the order of submission, so
// the times grow with them. (A clock that was set back in between may hide what was submitted then.)
absl::StatusOr<uint64_t> first_since(Connection& db, Lookup& lookup, WallTime time, Numbers numbers) {
  ASSIGN_OR_RETURN(Statement next, db.prepare("SELECT min(job) FROM spec WHERE job >= ?1"));
  while (numbers.from < numbers.below) {
    const uint64_t middle = numbers.from + (numbers.below - numbers.from) / 2;
    uint64_t there = numbers.below;
    {
      const InUse use(next);
      next.integer(static_cast<int64_t>(middle));
      ASSIGN_OR_RETURN(const bool found, next.step());
      if (found) there = static_cast<uint64_t>(next.integer());
    }
    if (there < middle || there >= numbers.below) {  // nobody from the middle on
      numbers.below = middle;
      continue;
    }
    ASSIGN_OR_RETURN(const WallTime created, lookup.created(JobId{there}));
    created < time ? numbers.from = there + 1 : numbers.below = middle;
  }
  return numbers.from;
}

absl::StatusOr<Numbers> numbers_of(Connection& db, Lookup& lookup, const JobQuery& query) {
  ASSIGN_OR_RETURN(const int64_t oldest, db.ask_integer("SELECT min(job) FROM spec"));
  ASSIGN_OR_RETURN(const int64_t newest, db.ask_integer("SELECT max(job) FROM spec"));
  const Numbers all{static_cast<uint64_t>(oldest), static_cast<uint64_t>(newest) + 1};
  Numbers out = all;
  if (query.since.is_set()) {
    ASSIGN_OR_RETURN(out.from, first_since(db, lookup, query.since, all));
  }
  if (query.until.is_set()) {
    ASSIGN_OR_RETURN(out.below, first_since(db, lookup, query.until, all));
  }
  const uint64_t before = number(query.before);
  if (before != 0 && query.oldest_first) out.from = std::max(out.from, before + 1);
  if (before != 0 && !query.oldest_first) out.below = std::min(out.below, before);
  return out;
}

// Takes the next block of numbers from those that are left.
Numbers take_block(Numbers& left, bool oldest_first) {
  Numbers block = left;
  if (oldest_first) {
    block.below = std::min(left.below, ((left.from >> kBlockBits) + 1) << kBlockBits);
    left.from = block.below;
  } else {
    block.from = std::max(left.from, (left.below - 1) >> kBlockBits << kBlockBits);
    left.below = block.from;
  }
  return block;
}

}  // namespace

absl::StatusOr<JobPage> list_jobs(Connection& db, const JobQuery& query, const ReadLimit& limit) {
  Candidates candidates;
  Lookup lookup;
  RETURN_IF_ERROR(candidates.prepare(db, query));
  RETURN_IF_ERROR(lookup.prepare(db));
  ASSIGN_OR_RETURN(Numbers left, numbers_of(db, lookup, query));
  JobPage out;
  while (out.jobs.size() < query.limit && left.from < left.below) {
    const Numbers block = take_block(left, query.oldest_first);
    RETURN_IF_ERROR(list_block(db, candidates, lookup, query, block.from, block.below, out.jobs));
    if (left.from < left.below && limit.is_out_of_time && limit.is_out_of_time()) {
      out.next = JobId{query.oldest_first ? left.from - 1 : left.below};
      break;
    }
  }
  if (!out.jobs.empty() && out.jobs.size() == query.limit) out.next = out.jobs.back().head.id;
  return out;
}

}  // namespace hodei::store
