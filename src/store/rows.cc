#include "src/store/rows.h"

#include "src/store/job_facts.h"

namespace hodei::store {

using namespace core;

namespace {

void write_job(const JobHead& job, int64_t second, RowOut& out) {
  out.integer(static_cast<int64_t>(number(job.id)));
  out.integer(second);
  out.text(job.ns.str());
  out.integer(static_cast<int64_t>(job.state));
  out.text(last_worker(job));
  out.packed(pack_details(job));
  if (job.shape == nullptr) {
    out.null();
  } else if (job.shape->encoded.empty()) {
    out.packed(encode(*job.shape));
  } else {
    out.bytes(job.shape->encoded);
  }
  job.past == nullptr ? out.null() : out.packed(encode(*job.past));
}

std::string read_string(RowIn& in) { return std::string(in.text()); }

}  // namespace

ShapePtr ShapePool::get(std::string_view encoded) {
  if (encoded.empty()) return nullptr;
  const auto found = shapes_.find(encoded);
  if (found != shapes_.end()) return found->second;
  return shapes_.emplace(encoded, std::make_shared<const Shape>(decode_shape(encoded))).first->second;
}

Namespace ShapePool::name(std::string_view ns) {
  const auto found = names_.find(ns);
  if (found != names_.end()) return found->second;
  return names_.emplace(ns, Namespace(std::string(ns))).first->second;
}

LabelsPtr ShapePool::shared(const LabelsPtr& labels) {
  return labels == nullptr ? nullptr : labels_.emplace(*labels, labels).first->second;
}

void write_spec(const SpecRow& spec, RowOut& out) {
  out.integer(static_cast<int64_t>(number(spec.job)));
  out.text(spec.ns);
  out.text(spec.name);
  out.packed(pack(spec.labels));
  out.text(spec.correlation_id);
  out.text(spec.template_name);
  out.integer(static_cast<int64_t>(number(spec.retry_of)));
  out.bytes(spec.bytes);
}

void write_live(const JobHead& job, RowOut& out) { write_job(job, static_cast<int64_t>(step_of(job)), out); }

void write_finished(const JobHead& job, RowOut& out) { write_job(job, ended_of(job).us, out); }

void write_label(JobId job, const std::string& key, const std::string& value, RowOut& out) {
  out.integer(block_of(job));
  out.integer(label_hash(key, value));
  out.integer(static_cast<int64_t>(number(job)));
}

void write_execution(JobId job, const ShelvedExecution& shelved, RowOut& out) {
  out.integer(static_cast<int64_t>(number(job)));
  out.integer(shelved.execution.number);
  out.integer(shelved.execution.log_bytes.value_or(-1));
  out.packed(encode(shelved));
}

void write_worker(const WorkerRecord& worker, RowOut& out) {
  out.text(worker.info.id.str());
  out.integer(static_cast<int64_t>(worker.state));
  out.packed(pack(worker.session));
  out.packed(pack(worker.used_otp));
  out.text(worker.incarnation);
  out.integer(worker.stopped);
  out.integer(worker.registered.us);
  out.packed(encode(worker.info));
}

void write_otp(const OtpRow& otp, RowOut& out) {
  out.packed(pack(otp.token));
  out.text(otp.worker.str());
  out.integer(otp.expires.us);
}

void write_template(const TemplateRow& row, RowOut& out) {
  out.text(row.ns);
  out.text(row.name);
  out.integer(row.revision);
  out.integer(row.updated.us);
  out.bytes(row.bytes);
}

void write_secret(const SecretRow& row, RowOut& out) {
  out.text(row.ns);
  out.text(row.name);
  out.integer(row.revision);
  out.integer(row.updated.us);
  out.bytes(row.sealed);
}

void write_setting(const SettingRow& row, RowOut& out) {
  out.integer(static_cast<int64_t>(row.kind));
  out.text(row.name);
  out.bytes(row.bytes);
}

void write_audit(const AuditRow& row, RowOut& out) {
  out.integer(static_cast<int64_t>(row.number));
  out.integer(row.at.us);
  for (const std::string* text : {&row.ns, &row.principal, &row.action, &row.subject, &row.detail}) out.text(*text);
}

void write_key_limit(const KeyLimitRow& row, RowOut& out) {
  out.text(row.ns);
  out.text(row.key);
  out.integer(row.limit);
}

void write_idempotency(const IdempotencyRow& row, RowOut& out) {
  out.packed(pack(row.key));
  out.integer(static_cast<int64_t>(number(row.job)));
  out.integer(row.expires.us);
  out.integer(static_cast<int64_t>(row.fingerprint));
}

SpecRow read_spec(RowIn& in) {
  SpecRow spec;
  spec.job = JobId{static_cast<uint64_t>(in.integer())};
  spec.ns = in.text();
  spec.name = in.text();
  spec.labels = unpack_labels(in.bytes());
  spec.correlation_id = in.text();
  spec.template_name = in.text();
  spec.retry_of = JobId{static_cast<uint64_t>(in.integer())};
  spec.bytes = in.bytes();
  return spec;
}

std::shared_ptr<JobHead> read_job(RowIn& in, ShapePool& shapes, int64_t& second) {
  auto job = std::make_shared<JobHead>();
  job->id = JobId{static_cast<uint64_t>(in.integer())};
  second = in.integer();
  job->ns = shapes.name(in.text());
  job->state = static_cast<JobState>(in.integer());
  in.text();  // last_worker: derived
  unpack_details(in.bytes(), *job);
  job->labels = shapes.shared(job->labels);
  job->shape = shapes.get(in.bytes());
  job->past = decode_past(in.bytes());
  return job;
}

ShelvedExecution read_execution(RowIn& in) {
  in.integer();
  in.integer();
  in.integer();
  return decode_shelved(in.bytes());
}

WorkerRecordPtr read_worker(RowIn& in) {
  auto worker = std::make_shared<WorkerRecord>();
  in.text();  // the id is part of the info
  worker->state = static_cast<WorkerState>(in.integer());
  worker->session = unpack_hash(in.bytes());
  worker->used_otp = unpack_hash(in.bytes());
  worker->incarnation = in.text();
  worker->stopped = in.integer() != 0;
  worker->registered.us = in.integer();
  worker->info = decode_worker_info(in.bytes());
  return worker;
}

OtpRow read_otp(RowIn& in) {
  OtpRow otp;
  otp.token = unpack_hash(in.bytes());
  otp.worker = WorkerId(read_string(in));
  otp.expires.us = in.integer();
  return otp;
}

TemplateRow read_template(RowIn& in) {
  TemplateRow row;
  row.ns = in.text();
  row.name = in.text();
  row.revision = in.integer();
  row.updated.us = in.integer();
  row.bytes = in.bytes();
  return row;
}

SecretRow read_secret(RowIn& in) {
  SecretRow row;
  row.ns = in.text();
  row.name = in.text();
  row.revision = in.integer();
  row.updated.us = in.integer();
  row.sealed = in.bytes();
  return row;
}

SettingRow read_setting(RowIn& in) {
  SettingRow row;
  row.kind = static_cast<SettingKind>(in.integer());
  row.name = in.text();
  row.bytes = in.bytes();
  return row;
}

AuditRow read_audit(RowIn& in) {
  AuditRow row;
  row.number = static_cast<uint64_t>(in.integer());
  row.at.us = in.integer();
  for (std::string* text : {&row.ns, &row.principal, &row.action, &row.subject, &row.detail}) *text = in.text();
  return row;
}

KeyLimitRow read_key_limit(RowIn& in) {
  KeyLimitRow row;
  row.ns = in.text();
  row.key = in.text();
  row.limit = in.integer();
  return row;
}

IdempotencyRow read_idempotency(RowIn& in) {
  IdempotencyRow row;
  row.key = unpack_hash(in.bytes());
  row.job = JobId{static_cast<uint64_t>(in.integer())};
  row.expires.us = in.integer();
  row.fingerprint = static_cast<uint64_t>(in.integer());
  return row;
}

}  // namespace hodei::store
