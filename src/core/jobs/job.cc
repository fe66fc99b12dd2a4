#include "src/core/jobs/job.h"

#include <algorithm>
#include <bit>

#include "src/base/codec.h"
#include "src/base/finite.h"

namespace hodei::core {
namespace {

constexpr uint64_t kPastVersion = 3;      // 2: with RunFacts; 3: with archived executions
constexpr uint64_t kArchivedVersion = 3;  // as kPastVersion, which the layout of an execution follows

void put(Encoder& out, const Transition& t) {
  out.u64(static_cast<uint64_t>(t.from)).u64(static_cast<uint64_t>(t.to)).i64(t.at.us).u64(t.execution).text(t.reason);
}

Transition get_transition(Decoder& in) {
  Transition t;
  t.from = static_cast<JobState>(in.u64());
  t.to = static_cast<JobState>(in.u64());
  t.at.us = in.i64();
  t.execution = static_cast<uint32_t>(in.u64());
  t.reason = in.text();
  return t;
}

// Scores are kept in hundredths: enough to explain, small to store.
void put(Encoder& out, const Decision& d) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto part = [&](double v) { out.i64(bounded_whole(v * 100, -kMost, kMost)); };
  part(d.score.capacity), part(d.score.load), part(d.score.affinity), part(d.score.zone), part(d.score.history);
  out.u64(d.considered).u64(d.rejected.size());
  for (const RuleCount& r : d.rejected) out.text(r.rule).u64(r.workers);
}

Decision get_decision(Decoder& in) {
  Decision d;
  const auto part = [&] { return static_cast<double>(in.i64()) / 100; };
  d.score.capacity = part();
  d.score.load = part();
  d.score.affinity = part();
  d.score.zone = part();
  d.score.history = part();
  d.considered = static_cast<uint32_t>(in.u64());
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) {
    RuleCount r;
    r.rule = in.text();
    r.workers = static_cast<uint32_t>(in.u64());
    d.rejected.push_back(std::move(r));
  }
  return d;
}

void put(Encoder& out, const Execution& e) {
  out.u64(e.number).text(e.worker.str()).text(e.provider).u64(static_cast<uint64_t>(e.state));
  out.text(e.reason).text(e.failure).i64(e.scheduled.us).i64(e.started.us).i64(e.ended.us);
  out.u64(e.exit_code.has_value()).i64(e.exit_code.value_or(0)).i64(e.signal);
  out.i64(e.log_bytes.value_or(-1));
  put(out, e.facts);
  put(out, e.decision);
}

Execution get_execution(Decoder& in, uint64_t version) {
  Execution e;
  e.number = static_cast<uint32_t>(in.u64());
  e.worker = WorkerId(std::string(in.text()));
  e.provider = in.text();
  e.state = static_cast<JobState>(in.u64());
  e.reason = in.text();
  e.failure = in.text();
  e.scheduled.us = in.i64();
  e.started.us = in.i64();
  e.ended.us = in.i64();
  const bool has_exit = in.u64() != 0;
  const int exit_code = static_cast<int>(in.i64());
  if (has_exit) e.exit_code = exit_code;
  e.signal = static_cast<int>(in.i64());
  if (version < 2) {
    e.facts.usage.cpu_ms = in.i64();
    e.facts.usage.max_memory_kb = in.i64();
  }
  if (const int64_t bytes = in.i64(); bytes >= 0) e.log_bytes = bytes;
  if (version >= 2) e.facts = get_run_facts(in);
  e.decision = get_decision(in);
  e.decision.winner = e.worker;
  return e;
}

}  // namespace

std::string encode(const Past& past) {
  Encoder out;
  out.u64(kPastVersion).u64(past.transitions.size());
  for (const Transition& t : past.transitions) put(out, t);
  out.u64(past.executions.size());
  for (const Execution& e : past.executions) put(out, e);
  out.text(past.failure).text(past.reason).text(past.cancel_reason).text(past.output);
  out.u64(std::bit_cast<uint64_t>(past.progress)).text(past.progress_message);
  // What versions before 3 wrote ends here.
  out.u64(past.refused_by.size());
  for (const WorkerId& worker : past.refused_by) out.text(worker.str());
  out.u64(past.archived_transitions).i64(past.archived_until.us).u64(past.interruptions);
  const auto has_ref = [](const Execution& e) { return !e.provider_ref.empty(); };
  if (std::none_of(past.executions.begin(), past.executions.end(), has_ref)) return out.take();
  for (const Execution& e : past.executions) out.text(e.provider_ref);
  return out.take();
}

std::string encode(const ArchivedExecution& archived) {
  Encoder out;
  out.u64(kArchivedVersion).u64(archived.transitions.size());
  for (const Transition& t : archived.transitions) put(out, t);
  put(out, archived.execution);
  if (!archived.execution.provider_ref.empty()) out.text(archived.execution.provider_ref);
  return out.take();
}

ArchivedExecution decode_archived(std::string_view bytes) {
  Decoder in(bytes);
  ArchivedExecution archived;
  const uint64_t version = in.u64();
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) archived.transitions.push_back(get_transition(in));
  archived.execution = get_execution(in, version);
  if (!in.done() && in.ok()) archived.execution.provider_ref = in.text();
  return archived;
}

std::shared_ptr<const Past> decode_past(std::string_view bytes) {
  if (bytes.empty()) return nullptr;
  Decoder in(bytes);
  auto past = std::make_shared<Past>();
  const uint64_t version = in.u64();
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) past->transitions.push_back(get_transition(in));
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) past->executions.push_back(get_execution(in, version));
  past->failure = in.text();
  past->reason = in.text();
  past->cancel_reason = in.text();
  past->output = in.text();
  past->progress = bounded(std::bit_cast<double>(in.u64()), -1, 100, -1);
  past->progress_message = in.text();
  if (in.done() || !in.ok()) return past;
  for (uint64_t n = in.count(); n > 0 && in.ok(); --n) past->refused_by.emplace_back(std::string(in.text()));
  if (version >= 3) {
    past->archived_transitions = static_cast<uint32_t>(in.u64());
    past->archived_until.us = in.i64();
  }
  if (!in.done()) past->interruptions = static_cast<uint32_t>(in.u64());
  if (in.done() || !in.ok()) return past;
  for (Execution& e : past->executions) e.provider_ref = in.text();
  return past;
}

size_t transition_count(const JobHead& job) {
  return job.past == nullptr ? 1 : 1 + job.past->archived_transitions + job.past->transitions.size();
}

const Transition* find_transition(const JobHead& job, size_t index) {
  if (job.past == nullptr || index <= job.past->archived_transitions || index >= transition_count(job)) return nullptr;
  return &job.past->transitions[index - 1 - job.past->archived_transitions];
}

const Execution* find_execution(const JobHead& job, uint32_t number) {
  if (job.past == nullptr) return nullptr;
  const auto found = std::ranges::find(job.past->executions, number, &Execution::number);
  return found == job.past->executions.end() ? nullptr : &*found;
}

}  // namespace hodei::core
