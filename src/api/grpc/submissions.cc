#include "src/api/grpc/submissions.h"

#include "src/api/grpc/key_conflict.h"
#include "src/api/grpc/render.h"
#include "src/api/grpc/secrets.h"
#include "src/api/grpc/translate.h"
#include "src/base/random.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr size_t kMaxCorrelationId = 200;

std::vector<core::Parameter> parameters_of(const v1::Template& t) {
  std::vector<core::Parameter> out;
  for (const v1::TemplateParameter& p : t.parameters()) {
    out.push_back({p.name(), p.has_default_value() ? std::optional<std::string>(p.default_value()) : std::nullopt});
  }
  return out;
}

// What is set beside a template wins: the command as a whole, the rest field by field.
void overlay(const v1::JobSpec& wanted, v1::JobSpec& spec) {
  if (wanted.has_command()) spec.clear_command();
  for (const v1::Secret& given : wanted.secrets()) {
    auto& kept = *spec.mutable_secrets();
    kept.erase(std::remove_if(kept.begin(), kept.end(), [&](const v1::Secret& s) { return s.name() == given.name(); }),
               kept.end());
  }
  spec.MergeFrom(wanted);
}

}  // namespace

absl::StatusOr<std::string> namespace_of(const std::string& given) {
  if (given.empty()) return std::string(kDefaultNamespace);
  RETURN_IF_ERROR(check_name("namespace", given));
  return given;
}

absl::StatusOr<v1::JobSpec> rendered_spec(const v1::QueueJobRequest& request, const std::string& ns,
                                          store::Reader& reader) {
  if (request.template_().empty()) {
    if (!request.parameters().empty()) return bad_field("parameters", "are only for templates; set `template`");
    if (!request.has_spec()) return bad_field("spec", "is required unless `template` is set");
    return request.spec();
  }
  const absl::StatusOr<core::TemplateRow> row = reader.job_template(ns, request.template_());
  if (absl::IsNotFound(row.status())) {
    return absl::NotFoundError(
        cat("template: '", request.template_(), "' does not exist in namespace '", ns, "'; see `hodei template list`"));
  }
  RETURN_IF_ERROR(row.status());
  const v1::Template stored = to_proto(*row);
  const core::Values given(request.parameters().begin(), request.parameters().end());
  ASSIGN_OR_RETURN(const core::Values values, core::bind(parameters_of(stored), given));
  v1::JobSpec spec = stored.spec();
  RETURN_IF_ERROR(render(values, spec));
  overlay(request.spec(), spec);
  return spec;
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

absl::Status find_key_owners(const server::KeyHorizon& horizon, store::Reader& reader, core::Submit& submit) {
  if (!horizon.ask_store) return absl::OkStatus();
  std::vector<Hash128> keys;
  for (const core::NewJob& job : submit.jobs) {
    if (job.idempotency) keys.push_back(*job.idempotency);
  }
  if (keys.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::optional<core::KeyOwner>> owners, reader.key_owners(keys));
  size_t at = 0;
  for (core::NewJob& job : submit.jobs) {
    if (!job.idempotency) continue;
    job.key_owner = owners[at++];
    job.key_asked_before = horizon.committed;
  }
  return absl::OkStatus();
}

absl::StatusOr<core::TemplateRow> template_row(const v1::Template& wanted, const std::string& ns) {
  RETURN_IF_ERROR(check_name("template.name", wanted.name()));
  if (wanted.description().size() > 4096) return bad_field("template.description", "must have at most 4096 characters");
  const std::vector<core::Parameter> declared = parameters_of(wanted);
  RETURN_IF_ERROR(core::check_parameters(declared));
  // A template that cannot be rendered or is not valid is found out now, not when it is used: every parameter gets a
  // stand-in, and the result is checked like any spec.
  core::Values values;
  for (const core::Parameter& p : declared) values[p.name] = p.default_value.value_or("1");
  v1::JobSpec sample = wanted.spec();
  RETURN_IF_ERROR(render(values, sample));
  RETURN_IF_ERROR(check_fractions(sample));
  RETURN_IF_ERROR(core::validate(from_proto(sample)));
  RETURN_IF_ERROR(refuse_values(wanted.spec()));
  core::TemplateRow row;
  row.ns = ns;
  row.name = wanted.name();
  v1::Template stored = wanted;
  stored.clear_revision();
  stored.clear_updated_at();
  stored.clear_namespace_();
  row.bytes = stored.SerializeAsString();
  if (row.bytes.size() > core::kMaxSpecBytes)
    return bad_field("template", "is larger than ", core::kMaxSpecBytes, " bytes");
  return row;
}

v1::Template to_proto(const core::TemplateRow& row) {
  v1::Template out;
  out.ParseFromString(row.bytes);
  out.set_name(row.name);
  out.set_namespace_(row.ns);
  out.set_revision(row.revision);
  set_time(row.updated, out.mutable_updated_at());
  return out;
}

}  // namespace hodei::api
