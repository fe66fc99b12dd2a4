#include "src/store/sqlite/schema.h"

#include <random>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/store/rows.h"
#include "src/store/sql.h"

namespace hodei::store {
namespace {

// Labels were packed into the rows of specs only.
absl::Status fill_labels(Connection& db) {
  ASSIGN_OR_RETURN(Statement specs, db.prepare("SELECT job, labels FROM spec WHERE length(labels) > 0"));
  ASSIGN_OR_RETURN(Statement insert, db.prepare(insert_sql(kJobLabel, Dialect::Sqlite)));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, specs.step());
    if (!found) return absl::OkStatus();
    const JobId job{static_cast<uint64_t>(specs.integer())};
    for (const auto& [name, value] : unpack_labels(specs.bytes())) {
      write_label(job, name, value, insert);
      RETURN_IF_ERROR(insert.run().status());
    }
  }
}

// Steps from older versions. A step is written out as SQL and never changed again, and tables.h is brought to the same.
const std::vector<Migration>& migrations() {
  static const std::vector<Migration> list = {
      {2,
       {"CREATE TABLE secret (ns TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, updated INTEGER NOT "
        "NULL, "
        "sealed BLOB NOT NULL, PRIMARY KEY (ns, name)) STRICT, WITHOUT ROWID",
        "CREATE TABLE audit (number INTEGER PRIMARY KEY NOT NULL, at INTEGER NOT NULL, ns TEXT NOT NULL, "
        "principal TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL, "
        "CHECK (number > 0)) STRICT"},
       nullptr},
      {3,
       {"CREATE TABLE setting (kind INTEGER NOT NULL, name TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (kind, "
        "name), "
        "CHECK (kind > 0)) STRICT, WITHOUT ROWID"},
       nullptr},
      {4,
       {"CREATE TABLE execution (job INTEGER NOT NULL, number INTEGER NOT NULL, log_bytes INTEGER NOT NULL, bytes BLOB "
        "NOT "
        "NULL, "
        "PRIMARY KEY (job, number), CHECK (number > 0)) STRICT, WITHOUT ROWID",
        "CREATE TABLE job_label (block INTEGER NOT NULL, hash INTEGER NOT NULL, job INTEGER NOT NULL, "
        "PRIMARY KEY (block, hash, job)) STRICT, WITHOUT ROWID",
        "CREATE INDEX spec_name ON spec ((job >> 13), name)", "CREATE INDEX job_done_ns ON job_done (ns, state)",
        "CREATE INDEX job_done_state ON job_done (state)"},
       fill_labels},
      {5,
       {"DROP INDEX idempotency_expires", "ALTER TABLE idempotency RENAME TO idempotency_4",
        "CREATE TABLE idempotency (key BLOB NOT NULL, job INTEGER NOT NULL, expires INTEGER NOT NULL, fingerprint "
        "INTEGER NOT NULL, PRIMARY KEY (key)) STRICT, WITHOUT ROWID",
        "INSERT INTO idempotency SELECT key, job, expires, 0 FROM idempotency_4", "DROP TABLE idempotency_4",
        "CREATE INDEX idempotency_expires ON idempotency (expires)"},
       nullptr},
  };
  return list;
}

std::string random_id() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", device());
  return id;
}

absl::Status create_all(Connection& db, int version) {
  for (const Table* table : kTables) {
    for (const std::string& sql : create_sql(*table, Dialect::Sqlite)) RETURN_IF_ERROR(db.run(sql));
  }
  return db.run(cat("INSERT INTO meta (id, schema_version, installation, epoch, batch_no) VALUES (1, ", version, ", '",
                    random_id(), "', 0, 0)"));
}

absl::Status step_up(Connection& db, int from, std::span<const Migration> steps, int version) {
  for (const Migration& step : steps) {
    if (step.to <= from) continue;
    for (const std::string& sql : step.sql) RETURN_IF_ERROR(db.run(sql));
    if (step.then) RETURN_IF_ERROR(step.then(db));
  }
  return db.run(cat("UPDATE meta SET schema_version = ", version));
}

}  // namespace

absl::Status bring_up_to_date(Connection& db) { return bring_up_to_date(db, migrations(), kSchemaVersion); }

absl::Status bring_up_to_date(Connection& db, std::span<const Migration> steps, int version) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::write(db));
  ASSIGN_OR_RETURN(const int64_t tables, db.ask_integer("SELECT count(*) FROM sqlite_master WHERE name = 'meta'"));
  if (tables == 0) {
    RETURN_IF_ERROR(create_all(db, version));
    return transaction.commit();
  }
  ASSIGN_OR_RETURN(const int64_t stored, db.ask_integer("SELECT schema_version FROM meta"));
  if (stored > version) {
    return absl::FailedPreconditionError(
        cat(sqlite3_db_filename(db.raw(), "main"), " was written by a newer Hodei (schema ", stored,
            "; this one knows up to ", version, "); start that version again, or restore a backup made before it"));
  }
  if (stored == version) return absl::OkStatus();
  journal(Level::Info, "server", "bringing the database from schema ", stored, " to ", version,
          "; with millions of jobs this takes a while");
  RETURN_IF_ERROR(step_up(db, static_cast<int>(stored), steps, version));
  return transaction.commit();
}

}  // namespace hodei::store
