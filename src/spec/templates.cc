#include "src/spec/templates.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/core/jobs/spec.h"
#include "src/spec/job_spec.h"
#include "src/spec/render.h"
#include "src/spec/secret_values.h"
#include "src/spec/timestamp.h"

namespace hodei::spec {
namespace {

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

absl::StatusOr<v1::JobSpec> rendered(const core::TemplateRow& row, const core::Values& parameters,
                                     const v1::JobSpec& beside) {
  const v1::Template stored = to_proto(row);
  ASSIGN_OR_RETURN(const core::Values values, core::bind(parameters_of(stored), parameters));
  v1::JobSpec spec = stored.spec();
  RETURN_IF_ERROR(render(values, spec));
  overlay(beside, spec);
  return spec;
}

}  // namespace hodei::spec
