#include "src/spec/submission.h"

#include "src/base/random.h"
#include "src/base/status.h"
#include "src/core/jobs/spec.h"
#include "src/spec/fingerprint.h"
#include "src/spec/job_spec.h"

namespace hodei::spec {
namespace {

constexpr size_t kMaxCorrelationId = 200;

}  // namespace

absl::StatusOr<std::string> namespace_of(const std::string& given) {
  if (given.empty()) return std::string(kDefaultNamespace);
  RETURN_IF_ERROR(check_name("namespace", given));
  return given;
}

absl::StatusOr<core::NewJob> new_job(const v1::JobSpec& in, const std::string& ns, const std::string& correlation_id,
                                     const std::string& template_name) {
  if (correlation_id.size() > kMaxCorrelationId) {
    return bad_field("correlation_id", "must have at most ", kMaxCorrelationId, " characters");
  }
  for (const v1::Secret& secret : in.secrets()) {
    if (!secret.value().empty()) return absl::InternalError("a secret was about to be stored in a readable form");
  }
  RETURN_IF_ERROR(check_fractions(in));
  const core::JobSpec spec = from_proto(in);
  RETURN_IF_ERROR(core::validate(spec));
  core::NewJob job;
  job.head = core::head_of(spec);
  job.head.ns = Namespace(ns);
  job.key_limit = spec.concurrency_limit;
  if (!spec.idempotency_key.empty()) {
    job.idempotency = key_hash(ns, spec.idempotency_key);
    job.fingerprint = fingerprint_of(in);
  }
  job.spec = std::make_shared<core::SpecRow>();
  job.spec->ns = ns;
  job.spec->name = core::default_name(spec);
  job.spec->labels = spec.labels;
  job.spec->correlation_id = correlation_id.empty() ? random_uuid() : correlation_id;
  job.spec->template_name = template_name;
  job.spec->bytes = in.SerializeAsString();
  return job;
}

Hash128 key_hash(const std::string& ns, const std::string& key) { return hash128(cat(ns, '\0', key)); }

}  // namespace hodei::spec
