#include "src/store/sqlite/sqlite_reader.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/store/read_check.h"
#include "src/store/refusals.h"
#include "src/store/rows.h"
#include "src/store/sql.h"
#include "src/store/sqlite/audit_list.h"
#include "src/store/sqlite/job_list.h"

namespace hodei::store {
namespace {

int64_t row_key(JobId job) { return static_cast<int64_t>(number(job)); }

// True and the job in `view` if the table has it.
absl::StatusOr<bool> find_job(Statement& by_key, JobId id, JobView& view, int64_t& second) {
  const InUse use(by_key);
  by_key.integer(row_key(id));
  ASSIGN_OR_RETURN(const bool found, by_key.step());
  if (!found) return false;
  ShapePool shapes;
  view.head = std::move(*read_job(by_key, shapes, second));
  return true;
}

absl::StatusOr<std::vector<FinishedJob>> read_finished(Statement& rows) {
  std::vector<FinishedJob> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return out;
    FinishedJob one;
    one.job = JobId{static_cast<uint64_t>(rows.integer())};
    one.ns = rows.text();
    one.ended.us = rows.integer();
    out.push_back(std::move(one));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReadConnection>> ReadConnection::open(const SqliteOptions& options) {
  ASSIGN_OR_RETURN(Connection db, Connection::open({.path = options.path(), .vfs = options.vfs, .read_only = true}));
  auto out = std::make_unique<ReadConnection>(std::move(db));
  ASSIGN_OR_RETURN(out->hot_by_key, out->db.prepare(select_by_key_sql(kJobHot, kSqlite)));
  ASSIGN_OR_RETURN(out->done_by_key, out->db.prepare(select_by_key_sql(kJobDone, kSqlite)));
  ASSIGN_OR_RETURN(out->spec_by_key, out->db.prepare(select_by_key_sql(kSpec, kSqlite)));
  return out;
}

absl::StatusOr<Statement*> ReadConnection::find_by_key(const Table& table) {
  const auto known = by_key.find(&table);
  if (known != by_key.end()) return &known->second;
  ASSIGN_OR_RETURN(Statement statement, db.prepare(select_by_key_sql(table, kSqlite)));
  return &by_key.emplace(&table, std::move(statement)).first->second;
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::open(const SqliteOptions& options, size_t connections) {
  std::unique_ptr<SqliteReader> reader(new SqliteReader(options, connections));
  RETURN_IF_ERROR(reader->take().status());  // opens the first connection: what is wrong is told now
  return reader;
}

absl::StatusOr<SqliteReader::Lease> SqliteReader::take() {
  check_may_read();
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty() || opened_ < connections_; });
    if (!free_.empty()) {
      Lease lease(*this, std::move(free_.back()));
      free_.pop_back();
      return lease;
    }
    ++opened_;
  }
  absl::StatusOr<std::unique_ptr<ReadConnection>> fresh = ReadConnection::open(options_);
  if (fresh.ok()) return Lease(*this, *std::move(fresh));
  {
    const std::lock_guard lock(mutex_);
    --opened_;
  }
  returned_.notify_one();
  return fresh.status();
}

void SqliteReader::give_back(std::unique_ptr<ReadConnection> connection) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(connection));
  }
  returned_.notify_one();
}

absl::StatusOr<JobView> SqliteReader::job(JobId id) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(lease->db));
  JobView view;
  int64_t second = 0;
  ASSIGN_OR_RETURN(bool found, find_job(lease->hot_by_key, id, view, second));
  if (!found) {
    ASSIGN_OR_RETURN(found, find_job(lease->done_by_key, id, view, second));
    if (!found) return no_such_job(id);
    view.ended = WallTime{second};
  }
  const InUse use(lease->spec_by_key);
  lease->spec_by_key.integer(row_key(id));
  ASSIGN_OR_RETURN(found, lease->spec_by_key.step());
  if (!found) return absl::DataLossError(cat("job ", short_id(id), " has lost its spec"));
  view.spec = read_spec(lease->spec_by_key);
  return view;
}

absl::StatusOr<JobPage> SqliteReader::jobs(const JobQuery& query, const ReadLimit& limit) {
  ASSIGN_OR_RETURN(Lease lease, take());
  const Cancellable cancellable(lease->db, limit.is_cancelled);
  return list_jobs(lease->db, query, limit);
}

absl::StatusOr<std::vector<core::ArchivedExecution>> SqliteReader::archived_executions(const ArchiveQuery& query) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows,
                   lease->db.prepare(select_sql(kExecution, "WHERE job = ?1 AND number < ?2 ORDER BY number DESC")));
  rows.integer(row_key(query.job));
  rows.integer(query.below);
  std::vector<core::ArchivedExecution> out;
  size_t bytes = 0;
  while (out.size() < query.limit) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) break;
    bytes += rows.last_size();
    if (!out.empty() && bytes > query.max_bytes) break;
    out.push_back(read_execution(rows));
  }
  return out;
}

absl::StatusOr<std::vector<PrintedBytes>> SqliteReader::printed(JobId job) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows, lease->db.prepare("SELECT number, log_bytes FROM execution "
                                                     "WHERE job = ?1 AND log_bytes >= 0 ORDER BY number"));
  rows.integer(row_key(job));
  std::vector<PrintedBytes> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return out;
    const auto number = static_cast<uint32_t>(rows.integer());
    out.push_back({number, rows.integer()});
  }
}

absl::StatusOr<std::vector<FinishedJob>> SqliteReader::finished(JobId above, size_t limit) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows,
                   lease->db.prepare("SELECT job, ns, ended FROM job_done WHERE job > ?1 ORDER BY job LIMIT ?2"));
  rows.integer(row_key(above));
  rows.integer(static_cast<int64_t>(limit));
  return read_finished(rows);
}

absl::StatusOr<std::vector<FinishedJob>> SqliteReader::oldest_finished(const std::string& ns, size_t limit) {
  ASSIGN_OR_RETURN(Lease lease, take());
  // State by state, because the index has them by number within each.
  ASSIGN_OR_RETURN(Statement rows, lease->db.prepare("SELECT job, ns, ended FROM job_done INDEXED BY job_done_ns "
                                                     "WHERE ns = ?1 AND state = ?2 ORDER BY job LIMIT ?3"));
  std::vector<FinishedJob> out;
  for (auto state = static_cast<int>(core::JobState::Succeeded); state <= static_cast<int>(core::JobState::Timeout);
       ++state) {
    const InUse use(rows);
    rows.text(ns);
    rows.integer(state);
    rows.integer(static_cast<int64_t>(limit));
    ASSIGN_OR_RETURN(const std::vector<FinishedJob> some, read_finished(rows));
    out.insert(out.end(), some.begin(), some.end());
  }
  std::ranges::sort(out, {}, &FinishedJob::job);
  if (out.size() > limit) out.resize(limit);
  return out;
}

absl::StatusOr<std::map<std::string, int64_t>> SqliteReader::finished_counts() {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows,
                   lease->db.prepare("SELECT ns, count(*) FROM job_done INDEXED BY job_done_ns GROUP BY ns"));
  std::map<std::string, int64_t> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return out;
    const std::string ns(rows.text());
    out[ns] = rows.integer();
  }
}

absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> SqliteReader::specs(const std::vector<JobId>& ids) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(lease->db));
  std::vector<std::shared_ptr<const core::SpecRow>> out;
  out.reserve(ids.size());
  for (const JobId id : ids) {
    const InUse use(lease->spec_by_key);
    lease->spec_by_key.integer(row_key(id));
    ASSIGN_OR_RETURN(const bool found, lease->spec_by_key.step());
    if (found) out.push_back(std::make_shared<const core::SpecRow>(read_spec(lease->spec_by_key)));
  }
  return out;
}

absl::Status SqliteReader::rows(const RowQuery& query, const std::function<void(RowIn&)>& visit) {
  ASSIGN_OR_RETURN(Lease lease, take());
  Statement list;
  Statement* rows = &list;
  if (query.given == query.table->key_columns) {
    ASSIGN_OR_RETURN(rows, lease->find_by_key(*query.table));
  } else {
    ASSIGN_OR_RETURN(list, lease->db.prepare(list_sql(*query.table, kSqlite, query.given)));
  }
  const InUse use(*rows);
  if (query.given > 0) query.key(*rows);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows->step());
    if (!found) return absl::OkStatus();
    visit(*rows);
  }
}

absl::StatusOr<AuditPage> SqliteReader::audit(const AuditQuery& query, const ReadLimit& limit) {
  ASSIGN_OR_RETURN(Lease lease, take());
  const Cancellable cancellable(lease->db, limit.is_cancelled);
  return list_audit(lease->db, query, limit);
}

absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> SqliteReader::key_owners(const std::vector<Hash128>& keys) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(lease->db));
  std::vector<std::optional<core::KeyOwner>> out;
  out.reserve(keys.size());
  ASSIGN_OR_RETURN(Statement* const by_key, lease->find_by_key(kTableOf<core::IdempotencyRow>));
  for (const Hash128& one : keys) {
    const InUse use(*by_key);
    core::write_key<core::IdempotencyRow>(one, *by_key);
    ASSIGN_OR_RETURN(const bool found, by_key->step());
    if (!found) {
      out.push_back(std::nullopt);
      continue;
    }
    const core::IdempotencyRow row = core::read_row<core::IdempotencyRow>(*by_key);
    out.push_back(core::KeyOwner{row.job, row.fingerprint});
  }
  return out;
}

}  // namespace hodei::store
