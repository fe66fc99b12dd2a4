#include "src/worker/core/session.h"

#include <algorithm>
#include <utility>

#include "src/base/hash.h"

namespace hodei::worker {

Duration Backoff::next(Duration least, Duration most) {
  Duration wait = least;
  for (int i = 0; i < failures_ && wait < most; ++i) wait *= 2;
  wait = std::min(wait, most);
  ++failures_;
  random_ = mix64(random_);
  return Duration(1 + static_cast<int64_t>(random_ % static_cast<uint64_t>(wait.count())));
}

void Session::beat_soon(Now now) {
  if (online()) beat_at_ = std::min(beat_at_, now.mono + config_.heartbeat);
}

void Session::set_timing(Duration heartbeat, Duration lease) {
  if (heartbeat > Duration::zero()) config_.heartbeat = heartbeat;
  if (lease > Duration::zero()) config_.lease = lease;
}

void Session::attached(const std::vector<Held>& inventory, Now now) {
  for (const Held& held : inventory) adopt(held);
  stream_.phase = Phase::Waiting;
  connect_at_ = now.mono;
  tick(now);
}

void Session::stream_opened(Now now) {
  if (stream_.phase == Phase::Leaving) return;
  forget_stream();
  stream_.phase = Phase::Greeting;
  beat_at_ = kNever;
  hello_sent_ = now.mono;
  parting_.said = parting_.stopping;
  parting_.noted = false;
  want(SendHello{.held = inventory(), .sent = now.mono, .stopping = parting_.stopping});
}

void Session::stream_closed(Now now) {
  if (stream_.phase == Phase::Leaving || stream_.phase == Phase::Waiting) return;
  forget_stream();
  stream_.phase = Phase::Waiting;
  beat_at_ = kNever;
  parting_.said = parting_.noted = false;
  connect_at_ = now.mono + backoff_.next(config_.reconnect_min, config_.reconnect_max);
}

void Session::turned_away(const std::string& reason) {
  if (stream_.phase == Phase::Leaving) return;
  forget_stream();
  stream_.phase = Phase::Leaving;
  beat_at_ = kNever;
  parting_.said = parting_.noted = false;
  want(Leave{reason});
}

void Session::welcomed(const std::vector<ExecutionId>& unknown, Now now) {
  if (stream_.phase != Phase::Greeting) return;
  stream_.phase = Phase::Online;
  backoff_.reset();
  parting_.drained = false;  // a server that still wants it says so right after this
  if (parting_.said) parting_.noted = true;
  if (parting_.stopping && !parting_.said) say_stopping();
  beat_at_ = now.mono + config_.heartbeat;
  heartbeat_acked(hello_sent_);
  tell_again(unknown);
  leave_if_empty();
}

void Session::ordered(const RunOrder& order) {
  if (!stream_.is_open() || holds(order.execution)) return;
  add(order.execution, parting_.stopping);
  if (!parting_.stopping) want(StartExecution{order});
}

void Session::heartbeat_acked(MonoTime sent) {
  if (!online() || sent <= newest_acked_) return;
  newest_acked_ = sent;
  want(ExtendLease{sent + config_.lease});
}

void Session::drain(bool stop) {
  parting_.drained = stop;
  leave_if_empty();
}

void Session::stop_gracefully(Now now) {
  if (parting_.stopping) return;
  parting_.stopping = true;
  if (online()) say_stopping();
  if (stream_.phase == Phase::Waiting && connect_at_ != kNever) connect_at_ = std::min(connect_at_, now.mono);
  leave_if_empty();
}

void Session::stop_noted() {
  if (!parting_.said) return;
  parting_.noted = true;
  leave_if_empty();
}

void Session::say_stopping() {
  parting_.said = true;
  want(SendStopping{});
}

void Session::tick(Now now) {
  if (stream_.phase == Phase::Waiting && now.mono >= connect_at_) {
    stream_.phase = Phase::Connecting;
    connect_at_ = kNever;
    want(Connect{});
  }
  if (online() && now.mono >= beat_at_) {
    beat_at_ = now.mono + config_.heartbeat;
    want(SendHeartbeat{.sent = now.mono, .active = active()});
  }
}

MonoTime Session::next_deadline() const {
  switch (stream_.phase) {
    case Phase::Waiting: return connect_at_;
    case Phase::Online: return beat_at_;
    default: return kNever;
  }
}

std::vector<SessionAction> Session::take_actions() { return std::exchange(stream_.actions, {}); }

void Session::leave_if_empty() {
  if (!(parting_.drained || parting_.stopping) || held_count() > 0 || stream_.phase == Phase::Leaving) return;
  // Orders may be on their way until the server knows; without a stream there is nobody whose orders could arrive.
  if (!parting_.drained && stream_.is_open() && !parting_.noted) return;
  stream_.phase = Phase::Leaving;
  want(parting_.drained ? Leave{"drained", true} : Leave{"stopped", false});
}

}  // namespace hodei::worker
