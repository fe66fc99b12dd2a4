#include "src/store/sqlite/sqlite_reader.h"

#include "src/base/status.h"
#include "src/store/refusals.h"
#include "src/store/rows.h"
#include "src/store/sql.h"
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

}  // namespace

absl::StatusOr<std::unique_ptr<ReadConnection>> ReadConnection::open(const SqliteOptions& options) {
  ASSIGN_OR_RETURN(Connection db, Connection::open({.path = options.path(), .vfs = options.vfs, .read_only = true}));
  auto out = std::make_unique<ReadConnection>(std::move(db));
  ASSIGN_OR_RETURN(out->hot_by_key, out->db.prepare(select_by_key_sql(kJobHot, Dialect::Sqlite)));
  ASSIGN_OR_RETURN(out->done_by_key, out->db.prepare(select_by_key_sql(kJobDone, Dialect::Sqlite)));
  ASSIGN_OR_RETURN(out->spec_by_key, out->db.prepare(select_by_key_sql(kSpec, Dialect::Sqlite)));
  ASSIGN_OR_RETURN(out->template_by_key, out->db.prepare(select_by_key_sql(kTemplate, Dialect::Sqlite)));
  ASSIGN_OR_RETURN(out->secret_by_key, out->db.prepare(select_by_key_sql(kSecret, Dialect::Sqlite)));
  ASSIGN_OR_RETURN(out->idempotency_by_key, out->db.prepare(select_by_key_sql(kIdempotency, Dialect::Sqlite)));
  return out;
}

absl::StatusOr<std::unique_ptr<SqliteReader>> SqliteReader::open(const SqliteOptions& options) {
  std::unique_ptr<SqliteReader> reader(new SqliteReader(options));
  RETURN_IF_ERROR(reader->take().status());  // opens the first connection: what is wrong is told now
  return reader;
}

absl::StatusOr<SqliteReader::Lease> SqliteReader::take() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty() || opened_ < kMaxReadConnections; });
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

absl::StatusOr<std::vector<JobView>> SqliteReader::jobs(const JobQuery& query) {
  ASSIGN_OR_RETURN(Lease lease, take());
  return list_jobs(lease->db, query);
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

absl::StatusOr<core::TemplateRow> SqliteReader::job_template(const std::string& ns, const std::string& name) {
  ASSIGN_OR_RETURN(Lease lease, take());
  const InUse use(lease->template_by_key);
  lease->template_by_key.text(ns);
  lease->template_by_key.text(name);
  ASSIGN_OR_RETURN(const bool found, lease->template_by_key.step());
  if (!found) return no_such_template(ns, name);
  return read_template(lease->template_by_key);
}

absl::StatusOr<std::vector<core::TemplateRow>> SqliteReader::job_templates(const std::string& ns) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows,
                   lease->db.prepare(select_sql(kTemplate, "WHERE ?1 = '' OR ns = ?1 ORDER BY ns, name")));
  rows.text(ns);
  std::vector<core::TemplateRow> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return out;
    out.push_back(read_template(rows));
  }
}

absl::StatusOr<core::SecretRow> SqliteReader::secret(const std::string& ns, const std::string& name) {
  ASSIGN_OR_RETURN(Lease lease, take());
  const InUse use(lease->secret_by_key);
  lease->secret_by_key.text(ns);
  lease->secret_by_key.text(name);
  ASSIGN_OR_RETURN(const bool found, lease->secret_by_key.step());
  if (!found) return no_such_secret(ns, name);
  return read_secret(lease->secret_by_key);
}

absl::StatusOr<std::vector<core::SecretRow>> SqliteReader::secrets(const std::string& ns) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows,
                   lease->db.prepare(select_sql(kSecret, "WHERE ?1 = '' OR ns = ?1 ORDER BY ns, name")));
  rows.text(ns);
  std::vector<core::SecretRow> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return out;
    out.push_back(read_secret(rows));
  }
}

absl::StatusOr<std::vector<core::AuditRow>> SqliteReader::audit(const AuditQuery& query) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(Statement rows,
                   lease->db.prepare(select_sql(kAudit, "WHERE (?1 = 0 OR number < ?1) AND at >= ?2 AND (?3 = '' OR ns = ?3) "
                                                        "AND (?4 = '' OR action = ?4) AND (?5 = '' OR subject = ?5) "
                                                        "ORDER BY number DESC LIMIT ?6")));
  rows.integer(static_cast<int64_t>(query.before));
  rows.integer(query.since.is_set() ? query.since.us : INT64_MIN);
  for (const std::string* text : {&query.ns, &query.action, &query.subject}) rows.text(*text);
  rows.integer(static_cast<int64_t>(std::min<size_t>(query.limit, INT64_MAX)));
  std::vector<core::AuditRow> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.step());
    if (!found) return out;
    out.push_back(read_audit(rows));
  }
}

absl::StatusOr<std::vector<std::optional<JobId>>> SqliteReader::key_owners(const std::vector<Hash128>& keys) {
  ASSIGN_OR_RETURN(Lease lease, take());
  ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::read(lease->db));
  std::vector<std::optional<JobId>> out;
  out.reserve(keys.size());
  for (const Hash128& one : keys) {
    const InUse use(lease->idempotency_by_key);
    lease->idempotency_by_key.packed(pack(one));
    ASSIGN_OR_RETURN(const bool found, lease->idempotency_by_key.step());
    out.push_back(found ? std::optional<JobId>(read_idempotency(lease->idempotency_by_key).job) : std::nullopt);
  }
  return out;
}

}  // namespace hodei::store
