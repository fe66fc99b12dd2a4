#include <algorithm>

#include "src/api/calls/failures.h"
#include "src/api/calls/translate.h"
#include "src/base/text.h"
#include "src/base/trace.h"
#include "src/spec/secret_values.h"

namespace hodei::api {
namespace {

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
  // Back in the queue, it neither runs nor has ended: the end of the execution before is shown with that execution.
  if (state == core::JobState::Pending) return;
  out->set_signal(last.signal);
  if (last.exit_code) out->set_exit_code(*last.exit_code);
  if (last.started.is_set()) set_time(last.started, out->mutable_started_at());
  if (last.started.is_set() && last.ended.is_set()) {
    out->set_run_ms(std::max<int64_t>((last.ended - last.started).count() / 1000, 0));
  }
}

}  // namespace

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
  spec::hide_secrets(*out->mutable_spec());
  out->set_trace_id(trace_text(trace_of(job.id, view.spec.bytes).trace));
}

}  // namespace hodei::api
