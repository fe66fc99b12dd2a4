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

void write_execution(JobId job, const ArchivedExecution& archived, RowOut& out) {
  out.integer(static_cast<int64_t>(number(job)));
  out.integer(archived.execution.number);
  out.integer(archived.execution.log_bytes.value_or(-1));
  out.packed(encode(archived));
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

ArchivedExecution read_execution(RowIn& in) {
  in.integer();
  in.integer();
  in.integer();
  return decode_archived(in.bytes());
}

}  // namespace hodei::store
