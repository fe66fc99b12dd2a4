#include "src/store/migrations.h"

#include "src/base/codec.h"
#include "src/base/status.h"
#include "src/store/rows.h"

namespace hodei::store {
namespace {

constexpr Column integer(std::string_view name) { return {name, ColumnType::Int}; }
constexpr Column text(std::string_view name) { return {name, ColumnType::Text}; }
constexpr Column bytes(std::string_view name) { return {name, ColumnType::Bytes}; }

// Tables as they were in the version of their number.
constexpr Column kSecret2Columns[] = {text("ns"), text("name"), integer("revision"), integer("updated"),
                                      bytes("sealed")};
constexpr Table kSecret2{"secret", kSecret2Columns, 2};
constexpr Column kAudit2Columns[] = {integer("number"), integer("at"),   text("ns"),    text("principal"),
                                     text("action"),    text("subject"), text("detail")};
constexpr Table kAudit2{"audit", kAudit2Columns, 1, "number > 0"};

constexpr Column kSetting3Columns[] = {integer("kind"), text("name"), bytes("bytes")};
constexpr Table kSetting3{"setting", kSetting3Columns, 2, "kind > 0"};

constexpr Column kExecution4Columns[] = {integer("job"), integer("number"), integer("log_bytes"), bytes("bytes")};
constexpr Table kExecution4{"execution", kExecution4Columns, 2, "number > 0"};
constexpr Column kJobLabel4Columns[] = {integer("block"), integer("hash"), integer("job")};
constexpr Table kJobLabel4{"job_label", kJobLabel4Columns, 3};

constexpr Column kIdempotency5Columns[] = {bytes("key"), integer("job"), integer("expires"), integer("fingerprint")};
constexpr Index kIdempotency5Indexes[] = {{"idempotency_expires", "expires"}};
constexpr Table kIdempotency5{"idempotency", kIdempotency5Columns, 1, {}, kIdempotency5Indexes};

constexpr Column kNamed6Columns[] = {text("name"), bytes("bytes")};
constexpr Table kProvider6{"provider", kNamed6Columns};
constexpr Table kPool6{"pool", kNamed6Columns};
constexpr Column kTenant6Columns[] = {text("ns"), bytes("bytes")};
constexpr Table kTenant6{"tenant", kTenant6Columns};
constexpr Column kKeyRule6Columns[] = {text("ns"), text("key"), bytes("bytes")};
constexpr Table kKeyRule6{"key_rule", kKeyRule6Columns, 2};

// Labels were packed into the rows of specs only.
absl::Status fill_labels(RowIn& spec, const RunWith& insert) {
  const JobId job{static_cast<uint64_t>(spec.integer())};
  for (const auto& [name, value] : unpack_labels(spec.bytes())) {
    RETURN_IF_ERROR(insert([&, &key = name, &text = value](RowOut& out) { write_label(job, key, text, out); }));
  }
  return absl::OkStatus();
}

// Namespace and key were one name; the bytes begin with both.
absl::Status split_name(RowIn& setting, const RunWith& insert) {
  const std::string_view rule = setting.bytes();
  Decoder in(rule);
  const std::string_view ns = in.text();
  const std::string_view key = in.text();
  return insert([&](RowOut& out) {
    out.text(ns);
    out.text(key);
    out.bytes(rule);
  });
}

}  // namespace

std::vector<Migration> migrations() {
  return {
      {2, {CreateTable{kSecret2}, CreateTable{kAudit2}}},
      {3, {CreateTable{kSetting3}}},
      {4,
       {CreateTable{kExecution4}, CreateTable{kJobLabel4}, CreateIndex{"spec", {"spec_name", "(job >> 13), name"}},
        CreateIndex{"job_done", {"job_done_ns", "ns, state"}}, CreateIndex{"job_done", {"job_done_state", "state"}},
        RewriteRows{"SELECT job, labels FROM spec WHERE length(labels) > 0", kJobLabel4, fill_labels}}},
      {5,
       {RunSql{"DROP INDEX idempotency_expires"}, RunSql{"ALTER TABLE idempotency RENAME TO idempotency_4"},
        CreateTable{kIdempotency5},
        RunSql{"INSERT INTO idempotency (key, job, expires, fingerprint) "
               "SELECT key, job, expires, 0 FROM idempotency_4"},
        RunSql{"DROP TABLE idempotency_4"}}},
      // What people set was one table with a kind per row.
      {6,
       {CreateTable{kProvider6}, CreateTable{kPool6}, CreateTable{kTenant6}, CreateTable{kKeyRule6},
        RunSql{"INSERT INTO provider (name, bytes) SELECT name, bytes FROM setting WHERE kind = 1"},
        RunSql{"INSERT INTO pool (name, bytes) SELECT name, bytes FROM setting WHERE kind = 2"},
        RunSql{"INSERT INTO tenant (ns, bytes) SELECT name, bytes FROM setting WHERE kind = 3"},
        RewriteRows{"SELECT bytes FROM setting WHERE kind = 4", kKeyRule6, split_name}, RunSql{"DROP TABLE setting"}}},
  };
}

}  // namespace hodei::store
