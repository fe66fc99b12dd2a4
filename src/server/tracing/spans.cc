#include "src/server/tracing/spans.h"

#include "src/base/text.h"

namespace hodei::server {
namespace {

std::string why(core::JobState state, const std::string& failure, const std::string& reason) {
  if (state != core::JobState::Failed && state != core::JobState::Timeout) return {};
  if (!reason.empty()) return reason;
  return failure.empty() ? std::string(core::name(state)) : failure;
}

class SpanList {
 public:
  SpanList(const core::JobHead& job, const core::SpecRow& spec, const TraceContext& trace)
      : job_(job), spec_(spec), trace_(trace) {}

  void add_archived(const std::vector<core::ArchivedExecution>& archived) {
    for (auto one = archived.rbegin(); one != archived.rend(); ++one) {
      for (const core::Transition& t : one->transitions) add_wait(t);
      add_execution(one->execution);
    }
  }

  std::vector<Span> take() {
    add_job();
    if (job_.past == nullptr) return std::move(spans_);
    for (const core::Transition& t : job_.past->transitions) add_wait(t);
    for (const core::Execution& e : job_.past->executions) add_execution(e);
    return std::move(spans_);
  }

 private:
  Span& add(uint64_t id, uint64_t parent, std::string name, WallTime start, WallTime end) {
    // A worker's clock may differ from ours; a span never ends before it began.
    spans_.push_back({trace_.trace, id, parent, std::move(name), start, std::max(start, end), {}, {}});
    return spans_.back();
  }

  WallTime ended() const {
    return job_.past == nullptr || job_.past->transitions.empty() ? job_.created : job_.past->transitions.back().at;
  }

  void add_job() {
    Span& span = add(span_of(job_.id), trace_.span, cat("job ", spec_.name), job_.created, ended());
    span.attributes = {{"hodei.job.id", public_id(job_.id)},
                       {"hodei.job.short_id", short_id(job_.id)},
                       {"hodei.job.name", spec_.name},
                       {"hodei.namespace", job_.ns.str()},
                       {"hodei.state", std::string(core::name(job_.state))},
                       {"hodei.attempts", cat(job_.attempts)},
                       {"hodei.correlation_id", spec_.correlation_id}};
    if (job_.past == nullptr) return;
    if (!job_.past->failure.empty()) span.attributes["hodei.failure"] = job_.past->failure;
    span.error = why(job_.state, job_.past->failure, job_.past->reason);
  }

  // From each time that it came to wait to the time that it left.
  void add_wait(const core::Transition& t) {
    if (t.from == core::JobState::Pending) {
      const uint64_t root = span_of(job_.id);
      Span& span = add(span_of(root, cat("queued ", ++waits_)), root, "queued", waits_since_, t.at);
      span.attributes["hodei.state"] = "Pending";
    }
    if (t.to == core::JobState::Pending) waits_since_ = t.at;
  }

  void add_execution(const core::Execution& e) {
    const uint64_t id = span_of(ExecutionId{job_.id, e.number});
    const WallTime end = e.ended.is_set() ? e.ended : ended();
    Span& span = add(id, span_of(job_.id), cat("execution ", e.number), e.scheduled, end);
    span.attributes = {{"hodei.execution.id", to_string(ExecutionId{job_.id, e.number})},
                       {"hodei.attempt", cat(e.number)},
                       {"hodei.worker", e.worker.str()},
                       {"hodei.state", std::string(core::name(e.state))}};
    if (!e.failure.empty()) span.attributes["hodei.failure"] = e.failure;
    if (e.exit_code) span.attributes["hodei.exit_code"] = cat(*e.exit_code);
    span.error = why(e.state, e.failure, e.reason);
    add_phases(e, id, end);
  }

  void add_phases(const core::Execution& e, uint64_t parent, WallTime end) {
    const auto phase = [&](const char* name, WallTime from, WallTime until) {
      Span& span = add(span_of(parent, name), parent, name, from, until);
      span.attributes = {{"hodei.attempt", cat(e.number)}, {"hodei.worker", e.worker.str()}};
    };
    const WallTime begun = e.started.is_set() ? e.started : end;
    const bool was_prepared = e.facts.prepared.is_set();
    phase("scheduled", e.scheduled, was_prepared ? e.facts.prepared : begun);
    if (was_prepared) phase("prepared", e.facts.prepared, begun);
    if (e.started.is_set()) phase("running", e.started, end);
  }

  const core::JobHead& job_;
  const core::SpecRow& spec_;
  const TraceContext trace_;
  std::vector<Span> spans_;
  WallTime waits_since_ = job_.created;
  int waits_ = 0;
};

}  // namespace

std::vector<Span> spans_of(const core::JobHead& job, const core::SpecRow& spec,
                           const std::vector<core::ArchivedExecution>& archived) {
  const TraceContext trace = trace_of(job.id, spec.bytes);
  if (!trace.sampled) return {};
  SpanList list(job, spec, trace);
  list.add_archived(archived);
  return list.take();
}

}  // namespace hodei::server
