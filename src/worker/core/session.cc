#include "src/worker/core/session.h"

#include <algorithm>
#include <utility>

#include "src/base/hash.h"

namespace hodei::worker {

void Session::beat_soon(Now now) {
  if (online()) beat_at_ = std::min(beat_at_, now.mono + config_.heartbeat);
}

void Session::set_timing(Duration heartbeat, Duration lease) {
  if (heartbeat > Duration::zero()) config_.heartbeat = heartbeat;
  if (lease > Duration::zero()) config_.lease = lease;
}

void Session::attached(const std::vector<Held>& inventory, Now now) {
  for (const Held& held : inventory) {
    Entry& entry = held_[held.execution];
    entry.started = held.started;
    entry.started_at = held.exit.started;
    entry.pid = held.pid;
    if (!held.ended) continue;
    entry.exit = held.exit;
    ++exited_;
  }
  phase_ = Phase::Waiting;
  connect_at_ = now.mono;
  tick(now);
}

void Session::started(ExecutionId execution, WallTime at, int64_t pid) {
  const auto it = held_.find(execution);
  if (it == held_.end() || it->second.started) return;
  Entry& entry = it->second;
  entry.started = true;
  entry.started_at = at;
  entry.pid = pid;
  if (online() && !entry.unwanted) actions_.push_back(SendStarted{execution, at, pid});
}

void Session::exited(const Exit& exit) {
  const auto it = held_.find(exit.execution);
  if (it == held_.end() || it->second.exit) return;
  Entry& entry = it->second;
  entry.exit = exit;
  ++exited_;
  send_result_if_ready(entry);
  forget_if_done(exit.execution);
}

void Session::log_flushed(ExecutionId execution) {
  const auto it = held_.find(execution);
  if (it == held_.end() || !on_stream()) return;
  it->second.log_flushed = true;
  send_result_if_ready(it->second);
}

void Session::log_durable(ExecutionId execution) {
  const auto it = held_.find(execution);
  if (it == held_.end()) return;
  it->second.log_durable = true;
  forget_if_done(execution);
}

void Session::stream_opened(Now now) {
  if (phase_ == Phase::Leaving) return;
  forget_stream();
  phase_ = Phase::Greeting;
  hello_sent_ = now.mono;
  SendHello hello{.sent = now.mono, .stopping = stopping_};
  said_stopping_ = stopping_;
  hello.held.reserve(held_.size());
  for (const auto& [id, entry] : held_) {
    Held held{.execution = id, .started = entry.started, .ended = entry.exit.has_value(), .pid = entry.pid};
    if (entry.exit) held.exit = *entry.exit;
    hello.held.push_back(std::move(held));
  }
  actions_.push_back(std::move(hello));
}

void Session::stream_closed(Now now) {
  if (phase_ == Phase::Leaving || phase_ == Phase::Waiting) return;
  forget_stream();
  phase_ = Phase::Waiting;
  connect_at_ = now.mono + next_wait();
}

void Session::turned_away(const std::string& reason) {
  if (phase_ == Phase::Leaving) return;
  forget_stream();
  phase_ = Phase::Leaving;
  actions_.push_back(Leave{reason});
}

void Session::welcomed(const std::vector<ExecutionId>& unknown, Now now) {
  if (phase_ != Phase::Greeting) return;
  phase_ = Phase::Online;
  failures_ = 0;
  if (said_stopping_) stop_noted_ = true;
  if (stopping_ && !said_stopping_) say_stopping();
  beat_at_ = now.mono + config_.heartbeat;
  heartbeat_acked(hello_sent_);
  for (const ExecutionId id : unknown) {
    const auto it = held_.find(id);
    if (it == held_.end()) continue;
    it->second.unwanted = true;
    // Another copy may already run elsewhere: no grace.
    if (!it->second.exit) actions_.push_back(KillExecution{id, KillReason::LeaseExpired, Duration::zero()});
    forget_if_done(id);
  }
  for (auto& [id, entry] : held_) {
    if (entry.unwanted) continue;
    if (entry.started) actions_.push_back(SendStarted{id, entry.started_at, entry.pid});
    send_result_if_ready(entry);
  }
  leave_if_empty();
}

bool Session::has_started(ExecutionId execution) const {
  const auto it = held_.find(execution);
  return it != held_.end() && it->second.started;
}

bool Session::has_exited(ExecutionId execution) const {
  const auto it = held_.find(execution);
  return it != held_.end() && it->second.exit.has_value();
}

void Session::ordered(const RunOrder& order) {
  if (!on_stream() || held_.contains(order.execution)) return;
  Entry& entry = held_[order.execution];
  if (!stopping_) {
    actions_.push_back(StartExecution{order});
    return;
  }
  entry.refused = true;
  entry.exit = Exit{.execution = order.execution, .outcome = Outcome::Interrupted, .failure = "interrupted"};
  entry.exit->message = "not started: the worker is being stopped";
  ++exited_;
  send_result_if_ready(entry);
}

void Session::cancel(ExecutionId execution, bool timed_out, Duration grace) {
  const auto it = held_.find(execution);
  if (it == held_.end() || it->second.exit) return;
  actions_.push_back(KillExecution{execution, timed_out ? KillReason::TimedOut : KillReason::Cancelled, grace});
}

void Session::heartbeat_acked(MonoTime sent) {
  if (!online() || sent <= newest_acked_) return;
  newest_acked_ = sent;
  actions_.push_back(ExtendLease{sent + config_.lease});
}

void Session::results_acked(const std::vector<ExecutionId>& executions) {
  for (const ExecutionId id : executions) {
    const auto it = held_.find(id);
    if (it == held_.end() || !it->second.exit) continue;
    it->second.result_acked = true;
    forget_if_done(id);
  }
}

void Session::drain(bool stop) {
  leave_when_empty_ = leave_when_empty_ || stop;
  leave_if_empty();
}

void Session::stop_gracefully(Now now) {
  if (stopping_) return;
  stopping_ = true;
  if (online()) say_stopping();
  if (phase_ == Phase::Waiting && connect_at_ != kNever) connect_at_ = std::min(connect_at_, now.mono);
  leave_if_empty();
}

void Session::stop_noted() {
  if (!said_stopping_) return;
  stop_noted_ = true;
  leave_if_empty();
}

void Session::say_stopping() {
  said_stopping_ = true;
  actions_.push_back(SendStopping{});
}

void Session::tick(Now now) {
  if (phase_ == Phase::Waiting && now.mono >= connect_at_) {
    phase_ = Phase::Connecting;
    connect_at_ = kNever;
    actions_.push_back(Connect{});
  }
  if (online() && now.mono >= beat_at_) {
    beat_at_ = now.mono + config_.heartbeat;
    SendHeartbeat beat{.sent = now.mono};
    for (const auto& [id, entry] : held_) {
      if (!entry.result_acked && !entry.unwanted) beat.active.push_back(id);
    }
    actions_.push_back(std::move(beat));
  }
}

MonoTime Session::next_deadline() const {
  switch (phase_) {
    case Phase::Waiting: return connect_at_;
    case Phase::Online: return beat_at_;
    default: return kNever;
  }
}

std::vector<SessionAction> Session::take_actions() { return std::exchange(actions_, {}); }

// What was said on a stream that is gone counts for nothing.
void Session::forget_stream() {
  beat_at_ = kNever;
  said_stopping_ = stop_noted_ = false;
  for (auto& [id, entry] : held_) {
    entry.log_flushed = false;
    entry.result_sent = false;
  }
}

void Session::send_result_if_ready(Entry& entry) {
  if (!online() || entry.unwanted || entry.result_sent || !entry.exit || !(entry.log_flushed || entry.refused)) return;
  entry.result_sent = true;
  actions_.push_back(SendResult{*entry.exit});
}

void Session::forget_if_done(ExecutionId execution) {
  const auto it = held_.find(execution);
  const Entry& entry = it->second;
  if (!entry.exit || !(entry.unwanted || (entry.result_acked && (entry.log_durable || entry.refused)))) return;
  held_.erase(it);
  --exited_;
  actions_.push_back(ForgetExecution{execution});
  leave_if_empty();
}

void Session::leave_if_empty() {
  if (!(leave_when_empty_ || stopping_) || !held_.empty() || phase_ == Phase::Leaving) return;
  // Orders may be on their way until the server knows; without a stream there is nobody whose orders could arrive.
  if (!leave_when_empty_ && on_stream() && !stop_noted_) return;
  phase_ = Phase::Leaving;
  actions_.push_back(leave_when_empty_ ? Leave{"drained", true} : Leave{"stopped", false});
}

// Full jitter: thousands of workers that lose one server come back spread over the whole interval.
Duration Session::next_wait() {
  Duration most = config_.reconnect_min;
  for (int i = 0; i < failures_ && most < config_.reconnect_max; ++i) most *= 2;
  most = std::min(most, config_.reconnect_max);
  ++failures_;
  random_ = mix64(random_);
  return Duration(1 + static_cast<int64_t>(random_ % static_cast<uint64_t>(most.count())));
}

}  // namespace hodei::worker
