#include "src/spec/job_spec.h"

#include "src/base/status.h"

namespace hodei::spec {
namespace {

std::vector<std::string> strings(const google::protobuf::RepeatedPtrField<std::string>& in) {
  return {in.begin(), in.end()};
}

core::Shape shape_of(const v1::JobSpec& in) {
  core::Shape shape;
  const v1::Constraints& c = in.constraints();
  shape.architecture = in.resources().architecture();
  shape.needs.gpus = in.resources().gpu_required() ? 1 : 0;
  shape.isolation = checked_enum<core::Isolation>(c.isolation());
  shape.image = in.image();
  shape.pool = c.pool();
  shape.provider = c.provider();
  shape.capabilities = strings(c.capabilities());
  // A worker of an older version would start the job without its input.
  if (in.takes_stdin()) shape.capabilities.emplace_back("stdin");
  for (const v1::LabelRule& rule : c.labels()) {
    shape.labels.push_back({rule.key(), checked_enum<core::LabelOperator>(rule.operator_()), strings(rule.values())});
  }
  for (const v1::JobAffinity& affinity : c.affinity()) {
    const v1::LabelRule& rule = affinity.rule();
    shape.affinity.push_back({{rule.key(), checked_enum<core::LabelOperator>(rule.operator_()), strings(rule.values())},
                              affinity.anti(),
                              affinity.required()});
  }
  for (const v1::Toleration& t : c.tolerations()) shape.tolerations.push_back({t.key(), t.value()});
  const v1::Preferences& p = in.preferences();
  shape.preferred_provider = p.preferred_provider();
  shape.preferred_region = p.preferred_region();
  shape.preferred_zone = p.preferred_zone();
  for (const v1::LabelPreference& preference : p.labels()) {
    const v1::LabelRule& rule = preference.rule();
    // The check of the spec refuses an impossible weight.
    const uint32_t weight = preference.weight() == 0  ? 1
                            : preference.weight() < 0 ? 0
                                                      : static_cast<uint32_t>(preference.weight());
    shape.prefers.push_back(
        {{rule.key(), checked_enum<core::LabelOperator>(rule.operator_()), strings(rule.values())}, weight});
  }
  return shape;
}

}  // namespace

absl::Status check_fractions(const v1::JobSpec& spec) {
  const v1::Resources& wanted = spec.resources();
  RETURN_IF_ERROR(
      check_within("resources.cpu_cores", wanted.cpu_cores(), 0, static_cast<double>(core::kMaxCpuMilli / 1000)));
  if (wanted.cpu_milli() == 0 || wanted.cpu_cores() == 0 || wanted.cpu_milli() == milli_cores(wanted.cpu_cores()))
    return absl::OkStatus();
  return bad_field("resources.cpu_milli", "is ", wanted.cpu_milli(), ", but resources.cpu_cores is ",
                   wanted.cpu_cores(), "; set one of them");
}

core::JobSpec from_proto(const v1::JobSpec& in) {
  core::JobSpec out;
  out.name = in.name();
  if (in.command().has_shell()) {
    out.command = core::ShellCommand{in.command().shell().cmd(), strings(in.command().shell().args())};
  } else if (in.command().has_script()) {
    const v1::ScriptCommand& script = in.command().script();
    out.command = core::ScriptCommand{script.interpreter(), script.content(), strings(script.args())};
  }
  out.env = {in.env().begin(), in.env().end()};
  out.working_dir = in.working_dir();
  out.cpu_milli = milli_of(in.resources().cpu_milli(), in.resources().cpu_cores());
  out.memory_mb = in.resources().memory_mb();
  out.storage_mb = in.resources().storage_mb();
  out.timeout_ms = in.timeout_ms();
  out.max_attempts = in.max_attempts();
  out.backoff_initial_ms = in.backoff().initial_ms();
  out.backoff_max_ms = in.backoff().max_ms();
  out.backoff_factor = in.backoff().factor();
  out.kill_grace_ms = in.kill_grace_ms();
  out.allow_retry = !in.preferences().has_allow_retry() || in.preferences().allow_retry();
  out.priority = in.preferences().priority();
  out.concurrency_key = in.concurrency().key();
  out.concurrency_limit = in.concurrency().limit();
  out.idempotency_key = in.idempotency_key();
  out.labels = {in.labels().begin(), in.labels().end()};
  out.pids = in.resources().pids();
  out.io_weight = in.resources().io_weight();
  for (const v1::Secret& secret : in.secrets()) out.secrets.push_back(secret.name());
  for (const v1::Artifact& a : in.inputs()) out.inputs.push_back({a.url(), a.path(), a.sha256(), a.max_bytes()});
  for (const v1::Artifact& a : in.outputs()) out.outputs.push_back({a.url(), a.path(), a.sha256(), a.max_bytes()});
  out.log_policy = in.logs().policy();
  out.log_max_bytes = in.logs().max_bytes();
  out.log_bytes_per_second = in.logs().max_bytes_per_second();
  out.sandbox = in.has_sandbox();
  out.secret_files = in.secret_files() && !in.secrets().empty();
  out.sandbox_user = in.sandbox().user();
  out.traceparent = in.traceparent();
  out.shape = shape_of(in);
  out.encoded_size = in.ByteSizeLong();
  return out;
}

}  // namespace hodei::spec
