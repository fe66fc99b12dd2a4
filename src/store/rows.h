// Rows in and out: each struct of core, column by column in the order of tables.h. A backend offers the next column to
// write or read; nothing else of it is known here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "src/core/writes.h"
#include "src/store/tables.h"

namespace hodei::store {

// The parameters of a statement, in order. Views must stay valid until the statement has run; strings given away need
// not.
class RowOut {
 public:
  virtual ~RowOut() = default;
  virtual void integer(int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void bytes(std::string_view value) = 0;
  virtual void packed(std::string&& value) = 0;  // bytes made for this row
  virtual void null() = 0;
};

// The columns of a result row, in order. Views are valid until the next row.
class RowIn {
 public:
  virtual ~RowIn() = default;
  virtual int64_t integer() = 0;
  virtual double real() = 0;
  virtual std::string_view text() = 0;
  virtual std::string_view bytes() = 0;  // null reads as empty
};

// Equal shapes, names and labels, one object each.
class ShapePool {
 public:
  core::ShapePtr get(std::string_view encoded);  // empty: null
  Namespace name(std::string_view ns);
  core::LabelsPtr shared(const core::LabelsPtr& labels);  // null: null

 private:
  std::map<std::string, core::ShapePtr, std::less<>> shapes_;
  std::map<std::string, Namespace, std::less<>> names_;
  std::map<core::Labels, core::LabelsPtr> labels_;
};

void write_spec(const core::SpecRow& spec, RowOut& out);
void write_live(const core::JobHead& job, RowOut& out);      // job_hot
void write_finished(const core::JobHead& job, RowOut& out);  // job_done
void write_label(JobId job, const std::string& key, const std::string& value, RowOut& out);
void write_execution(JobId job, const core::ShelvedExecution& shelved, RowOut& out);
void write_worker(const core::WorkerRecord& worker, RowOut& out);
void write_otp(const core::OtpRow& otp, RowOut& out);
void write_template(const core::TemplateRow& row, RowOut& out);
void write_secret(const core::SecretRow& row, RowOut& out);
void write_setting(const core::SettingRow& row, RowOut& out);
void write_audit(const core::AuditRow& row, RowOut& out);
void write_key_limit(const core::KeyLimitRow& row, RowOut& out);
void write_idempotency(const core::IdempotencyRow& row, RowOut& out);

core::SpecRow read_spec(RowIn& in);
// `second` receives the column in which job_hot and job_done differ.
std::shared_ptr<core::JobHead> read_job(RowIn& in, ShapePool& shapes, int64_t& second);
// `number` and `log_bytes` are part of the bytes.
core::ShelvedExecution read_execution(RowIn& in);
core::WorkerRecordPtr read_worker(RowIn& in);
core::OtpRow read_otp(RowIn& in);
core::TemplateRow read_template(RowIn& in);
core::SecretRow read_secret(RowIn& in);
core::SettingRow read_setting(RowIn& in);
core::AuditRow read_audit(RowIn& in);
core::KeyLimitRow read_key_limit(RowIn& in);
core::IdempotencyRow read_idempotency(RowIn& in);

// Values packed into one column.
std::string pack(Hash128 hash);
Hash128 unpack_hash(std::string_view bytes);
std::string pack(const core::Labels& labels);
core::Labels unpack_labels(std::string_view bytes);
std::string pack(const core::SchedulerConfig& config);
core::SchedulerConfig unpack_scheduler(std::string_view bytes);
// What a label is found by: see kJobLabel.
int64_t label_hash(const std::string& key, const std::string& value);
inline int64_t block_of(JobId job) { return static_cast<int64_t>(number(job) >> kBlockBits); }
// Every field of a job that has no column of its own.
std::string pack_details(const core::JobHead& job);
void unpack_details(std::string_view bytes, core::JobHead& job);

}  // namespace hodei::store
