#include "src/store/schema.h"

#include <algorithm>
#include <random>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/store/migrations.h"

namespace hodei::store {
namespace {

std::string random_id() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", device());
  return id;
}

absl::Status create(SqlDatabase& db, const Table& table) {
  for (const std::string& sql : create_sql(table, db.dialect())) RETURN_IF_ERROR(db.run(sql));
  return absl::OkStatus();
}

absl::Status create_all(SqlDatabase& db, const Schema& schema) {
  for (const Table* table : schema.tables) RETURN_IF_ERROR(create(db, *table));
  return db.run(cat("INSERT INTO meta (id, schema_version, installation, epoch, batch_no) VALUES (1, ", schema.version,
                    ", '", random_id(), "', 0, 0)"));
}

struct TakeStep {
  SqlDatabase& db;
  absl::Status operator()(const CreateTable& step) const { return create(db, step.table); }
  absl::Status operator()(const CreateIndex& step) const { return db.run(create_index_sql(step.table, step.index)); }
  absl::Status operator()(const RunSql& step) const { return db.run(std::string(step.sql)); }
  absl::Status operator()(const RewriteRows& step) const {
    return db.rewrite(std::string(step.select), insert_sql(step.into, db.dialect()), step.rewrite);
  }
};

absl::Status step_up(SqlDatabase& db, int64_t from, const Schema& schema) {
  for (const Migration& migration : schema.migrations) {
    if (migration.to <= from) continue;
    for (const MigrationStep& step : migration.steps) RETURN_IF_ERROR(std::visit(TakeStep{db}, step));
  }
  return db.run(cat("UPDATE meta SET schema_version = ", schema.version));
}

absl::Status of_a_newer_one(SqlDatabase& db, const std::string& what) {
  return absl::FailedPreconditionError(cat(db.name(), " was written by a newer Hodei (", what,
                                           "); run the newer version, or restore a backup made before the upgrade"));
}

// The tables must be those of the schema: what is missing is made, what is unknown is not ours to ignore.
absl::Status settle_tables(SqlDatabase& db, const Schema& schema) {
  ASSIGN_OR_RETURN(const std::vector<std::string> stored, db.tables());
  for (const std::string& name : stored) {
    if (std::ranges::find(schema.tables, name, &Table::name) != schema.tables.end()) continue;
    return of_a_newer_one(db, cat("this one does not know its table '", name, "'"));
  }
  for (const Table* table : schema.tables) {
    if (std::ranges::find(stored, table->name) == stored.end()) RETURN_IF_ERROR(create(db, *table));
  }
  return absl::OkStatus();
}

}  // namespace

Schema current_schema() { return {kSchemaVersion, all_tables(), migrations()}; }

absl::Status bring_up_to_date(SqlDatabase& db, const Schema& schema) {
  ASSIGN_OR_RETURN(const std::vector<std::string> tables, db.tables());
  if (std::ranges::find(tables, kMeta.name) == tables.end()) return create_all(db, schema);
  ASSIGN_OR_RETURN(const int64_t stored, db.ask_integer("SELECT schema_version FROM meta"));
  if (stored > schema.version) {
    return of_a_newer_one(db, cat("schema ", stored, "; this one supports up to ", schema.version));
  }
  if (stored < schema.version) {
    journal(Level::Info, "server", "upgrading the database from schema ", stored, " to ", schema.version,
            "; this takes a while with millions of jobs");
    RETURN_IF_ERROR(step_up(db, stored, schema));
  }
  return settle_tables(db, schema);
}

}  // namespace hodei::store
