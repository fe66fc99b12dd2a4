#include "src/worker/core/outbox.h"

namespace hodei::worker {

void Outbox::adopt(const Held& held) {
  Entry& entry = held_[held.execution];
  entry.started = held.started;
  entry.started_at = held.exit.started;
  entry.pid = held.pid;
  if (!held.ended) return;
  entry.exit = held.exit;
  ++exited_;
}

void Outbox::add(ExecutionId execution, bool refused) {
  Entry& entry = held_[execution];
  if (!refused) return;
  entry.refused = true;
  entry.exit = Exit{.execution = execution, .outcome = Outcome::Interrupted, .failure = "interrupted"};
  entry.exit->message = "not started: the worker is being stopped";
  ++exited_;
  send_result_if_ready(entry);
}

void Outbox::started(ExecutionId execution, WallTime at, int64_t pid) {
  const auto it = held_.find(execution);
  if (it == held_.end() || it->second.started) return;
  Entry& entry = it->second;
  entry.started = true;
  entry.started_at = at;
  entry.pid = pid;
  if (online() && !entry.unwanted) want(SendStarted{execution, at, pid});
}

void Outbox::exited(const Exit& exit) {
  const auto it = held_.find(exit.execution);
  if (it == held_.end() || it->second.exit) return;
  Entry& entry = it->second;
  entry.exit = exit;
  ++exited_;
  send_result_if_ready(entry);
  forget_if_done(exit.execution);
}

void Outbox::log_flushed(ExecutionId execution) {
  const auto it = held_.find(execution);
  if (it == held_.end() || !stream_.is_open()) return;
  it->second.log_flushed = true;
  send_result_if_ready(it->second);
}

void Outbox::log_durable(ExecutionId execution) {
  const auto it = held_.find(execution);
  if (it == held_.end()) return;
  it->second.log_durable = true;
  forget_if_done(execution);
}

void Outbox::cancel(ExecutionId execution, bool timed_out, Duration grace) {
  const auto it = held_.find(execution);
  if (it == held_.end() || it->second.exit) return;
  want(KillExecution{execution, timed_out ? KillReason::TimedOut : KillReason::Cancelled, grace});
}

void Outbox::results_acked(const std::vector<ExecutionId>& executions) {
  for (const ExecutionId id : executions) {
    const auto it = held_.find(id);
    if (it == held_.end() || !it->second.exit) continue;
    it->second.result_acked = true;
    forget_if_done(id);
  }
}

bool Outbox::has_started(ExecutionId execution) const {
  const auto it = held_.find(execution);
  return it != held_.end() && it->second.started;
}

bool Outbox::has_exited(ExecutionId execution) const {
  const auto it = held_.find(execution);
  return it != held_.end() && it->second.exit.has_value();
}

std::vector<Held> Outbox::inventory() const {
  std::vector<Held> out;
  out.reserve(held_.size());
  for (const auto& [id, entry] : held_) {
    Held held{.execution = id, .started = entry.started, .ended = entry.exit.has_value(), .pid = entry.pid};
    if (entry.exit) held.exit = *entry.exit;
    out.push_back(std::move(held));
  }
  return out;
}

std::vector<ExecutionId> Outbox::active() const {
  std::vector<ExecutionId> out;
  for (const auto& [id, entry] : held_) {
    if (!entry.result_acked && !entry.unwanted) out.push_back(id);
  }
  return out;
}

void Outbox::tell_again(const std::vector<ExecutionId>& unknown) {
  for (const ExecutionId id : unknown) {
    const auto it = held_.find(id);
    if (it == held_.end()) continue;
    it->second.unwanted = true;
    // Another copy may already run elsewhere: no grace.
    if (!it->second.exit) want(KillExecution{id, KillReason::LeaseExpired, Duration::zero()});
    forget_if_done(id);
  }
  for (auto& [id, entry] : held_) {
    if (entry.unwanted) continue;
    if (entry.started) want(SendStarted{id, entry.started_at, entry.pid});
    send_result_if_ready(entry);
  }
}

// What was said on a stream that is gone counts for nothing.
void Outbox::forget_stream() {
  for (auto& [id, entry] : held_) {
    entry.log_flushed = false;
    entry.result_sent = false;
  }
}

void Outbox::send_result_if_ready(Entry& entry) {
  if (!online() || entry.unwanted || entry.result_sent || !entry.exit || !(entry.log_flushed || entry.refused)) return;
  entry.result_sent = true;
  want(SendResult{*entry.exit});
}

void Outbox::forget_if_done(ExecutionId execution) {
  const auto it = held_.find(execution);
  const Entry& entry = it->second;
  if (!entry.exit || !(entry.unwanted || (entry.result_acked && (entry.log_durable || entry.refused)))) return;
  held_.erase(it);
  --exited_;
  want(ForgetExecution{execution});
  leave_if_empty();
}

}  // namespace hodei::worker
