#include <algorithm>

#include "src/api/grpc/failures.h"
#include "src/api/grpc/secrets.h"
#include "src/api/grpc/translate.h"
#include "src/base/text.h"
#include "src/base/trace.h"

namespace hodei::api {
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
  for (const v1::Company& company : c.company()) {
    const v1::LabelRule& rule = company.rule();
    shape.company.push_back({{rule.key(), checked_enum<core::LabelOperator>(rule.operator_()), strings(rule.values())},
                             company.away(),
                             company.required()});
  }
  for (const v1::Toleration& t : c.tolerations()) shape.tolerations.push_back({t.key(), t.value()});
  const v1::Preferences& p = in.preferences();
  shape.preferred_provider = p.preferred_provider();
  shape.preferred_region = p.preferred_region();
  shape.preferred_zone = p.preferred_zone();
  for (const v1::LabelPreference& wish : p.labels()) {
    const v1::LabelRule& rule = wish.rule();
    // A weight that cannot be is told by the check of the spec.
    const uint32_t weight = wish.weight() == 0 ? 1 : wish.weight() < 0 ? 0 : static_cast<uint32_t>(wish.weight());
    shape.prefers.push_back(
        {{rule.key(), checked_enum<core::LabelOperator>(rule.operator_()), strings(rule.values())}, weight});
  }
  return shape;
}

void add_facts(const RunFacts& facts, v1::Execution* out) {
  out->mutable_usage()->set_cpu_ms(facts.usage.cpu_ms);
  out->mutable_usage()->set_max_memory_kb(facts.usage.max_memory_kb);
  out->mutable_usage()->set_io_read_bytes(facts.usage.io_read_bytes);
  out->mutable_usage()->set_io_write_bytes(facts.usage.io_write_bytes);
  if (facts.prepared.is_set()) set_time(facts.prepared, out->mutable_prepared_at());
  out->set_dropped_bytes(facts.dropped_bytes);
  out->set_dropped_lines(facts.dropped_lines);
  for (const std::string& name : facts.secrets) out->add_secrets(name);
  out->mutable_outputs()->insert(facts.outputs.begin(), facts.outputs.end());
}

void add_past(const core::Past& past, core::JobState state, v1::Job* out) {
  out->set_reason(past.reason);
  out->set_failure(past.failure);
  out->set_failure_reason(reason_of(past.failure));
  out->set_suggestion(std::string(suggestion_for(past.failure)));
  out->set_output(past.output);
  if (past.progress >= 0) {
    out->mutable_progress()->set_percentage(past.progress);
    out->mutable_progress()->set_message(past.progress_message);
  }
  if (past.executions.empty()) return;
  const core::Execution& last = past.executions.back();
  out->set_worker_id(last.worker.str());
  out->mutable_outputs()->insert(last.facts.outputs.begin(), last.facts.outputs.end());
  // Back in the queue, it neither runs nor has ended: what became of the execution before is told with that one.
  if (state == core::JobState::Pending) return;
  out->set_signal(last.signal);
  if (last.exit_code) out->set_exit_code(*last.exit_code);
  if (last.started.is_set()) set_time(last.started, out->mutable_started_at());
  if (last.started.is_set() && last.ended.is_set()) {
    out->set_run_ms(std::max<int64_t>((last.ended - last.started).count() / 1000, 0));
  }
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

void set_time(WallTime t, google::protobuf::Timestamp* out) {
  out->set_seconds(t.us / 1'000'000);
  out->set_nanos(static_cast<int>(t.us % 1'000'000) * 1'000);
}

WallTime from_proto(const google::protobuf::Timestamp& t) { return {t.seconds() * 1'000'000 + t.nanos() / 1'000}; }

void submission_to_proto(const core::JobHead& job, v1::Transition* out) {
  out->set_to(v1::Job::Pending);
  set_time(job.created, out->mutable_at());
  out->set_reason("submitted");
}

void to_proto(const core::Transition& t, JobId job, v1::Transition* out) {
  out->set_from(to_proto(t.from));
  out->set_to(to_proto(t.to));
  set_time(t.at, out->mutable_at());
  out->set_reason(t.reason);
  if (t.execution != 0) out->set_execution_id(to_string(ExecutionId{job, t.execution}));
}

void to_proto(const core::Execution& e, JobId job, v1::Execution* out) {
  out->set_id(to_string(ExecutionId{job, e.number}));
  out->set_number(static_cast<int>(e.number));
  out->set_worker_id(e.worker.str());
  out->set_provider(e.provider);
  out->set_provider_execution_id(e.provider_ref);
  out->set_state(to_proto(e.state));
  out->set_reason(e.reason);
  set_time(e.scheduled, out->mutable_scheduled_at());
  if (e.started.is_set()) set_time(e.started, out->mutable_started_at());
  if (e.ended.is_set()) set_time(e.ended, out->mutable_ended_at());
  if (e.exit_code) out->set_exit_code(*e.exit_code);
  out->set_signal(e.signal);
  out->set_failure(e.failure);
  out->set_failure_reason(reason_of(e.failure));
  out->set_log_bytes(e.log_bytes.value_or(0));
  add_facts(e.facts, out);
}

void to_proto(const store::JobView& view, bool detail, v1::Job* out) {
  const core::JobHead& job = view.head;
  out->set_id(public_id(job.id));
  out->set_short_id(short_id(job.id));
  out->set_namespace_(job.ns.str());
  out->set_name(view.spec.name);
  out->set_state(to_proto(job.state));
  out->set_attempts(static_cast<int>(job.attempts));
  out->set_max_attempts(static_cast<int>(job.max_attempts));
  out->set_cancel_requested(job.cancel_requested);
  set_time(job.created, out->mutable_created_at());
  if (job.not_before.is_set() && job.state == core::JobState::Pending)
    set_time(job.not_before, out->mutable_not_before());
  if (core::is_terminal(job.state)) set_time(view.ended, out->mutable_ended_at());
  if (view.spec.retry_of != JobId{}) out->set_retry_of(short_id(view.spec.retry_of));
  out->set_template_(view.spec.template_name);
  out->set_correlation_id(view.spec.correlation_id);
  for (const auto& [key, value] : view.spec.labels) (*out->mutable_labels())[key] = value;
  if (job.past != nullptr) add_past(*job.past, job.state, out);
  if (out->reason().empty() && job.state == core::JobState::Pending) out->set_reason("waiting for a worker");
  if (!detail) return;
  out->mutable_spec()->ParseFromString(view.spec.bytes);
  hide_secrets(*out->mutable_spec());
  out->set_trace_id(trace_text(trace_of(job.id, view.spec.bytes).trace));
}

}  // namespace hodei::api
