#include "src/server/loop.h"

#include <iterator>

#include "src/base/status.h"

namespace hodei::server {

void Loop::start() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  std::vector<Waiting> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  {
    const std::lock_guard lock(mutex_);
    left.swap(inbox_);
  }
  for (Waiting& w : left) {
    if (w.reply) w.reply(absl::UnavailableError("the server is shutting down; try again in a moment"));
  }
}

void Loop::post(core::Command command, ReplyTo reply) { add(std::move(command), std::move(reply), SIZE_MAX); }

void Loop::post_bounded(core::Command command, ReplyTo reply) { add(std::move(command), std::move(reply), kMaxWaiting); }

void Loop::add(core::Command command, ReplyTo reply, size_t limit) {
  absl::Status refused;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = absl::UnavailableError("the server is shutting down; try again in a moment");
    } else if (inbox_.size() >= limit) {
      refused = absl::ResourceExhaustedError(cat(limit, " requests already wait; try again in a moment"));
    } else {
      first = inbox_.empty();
      inbox_.push_back({std::move(command), std::move(reply)});
    }
  }
  if (first) wake_.notify_one();
  if (!refused.ok() && reply) reply(refused);
}

std::vector<Waiting> Loop::take() {
  if (inbox_.size() <= kMaxPerTurn) return std::exchange(inbox_, {});
  std::vector<Waiting> some(std::make_move_iterator(inbox_.begin()), std::make_move_iterator(inbox_.begin() + kMaxPerTurn));
  inbox_.erase(inbox_.begin(), inbox_.begin() + kMaxPerTurn);
  return some;
}

LoopHealth Loop::health() {
  const std::lock_guard lock(mutex_);
  return health_;
}

KeyHorizon Loop::key_horizon() {
  const std::lock_guard lock(mutex_);
  return key_horizon_;
}

void Loop::note_health(size_t commands, Duration turn) {
  key_horizon_.ask_store = true;
  if (const core::Engine* engine = core_.engine()) {
    key_horizon_ = {engine->state().idempotency().is_filling(), JobId{engine->state().next_job()}};
  }
  health_.commands += commands;
  health_.loaded = core_.ready();
  health_.deposed = core_.deposed();
  health_.trouble = core_.trouble();
  health_.commits = core_.commits();
  health_.epoch = core_.epoch();
  const MonoTime now = clock_.now().mono;
  if (now >= forget_slowest_at_) {
    health_.slowest_turn = Duration(0);
    forget_slowest_at_ = now + std::chrono::minutes(1);
  }
  health_.slowest_turn = std::max(health_.slowest_turn, turn);
}

void Loop::run() {
  std::unique_lock lock(mutex_);
  note_health(0, Duration(0));
  while (!stopping_) {
    const Duration wait = core_.next_wakeup() == kNever ? Duration(1s) : core_.next_wakeup() - clock_.now().mono;
    if (inbox_.empty() && wait > Duration(0)) {
      wake_.wait_for(lock, std::min(wait, Duration(1s)), [this] { return stopping_ || !inbox_.empty(); });
    }
    const Duration gather = gathering_.wait(clock_.now().mono);
    if (gather > Duration(0)) wake_.wait_for(lock, gather, [this] { return stopping_; });
    if (stopping_) break;
    std::vector<Waiting> commands = take();
    const size_t count = commands.size();
    lock.unlock();
    const MonoTime start = clock_.now().mono;
    gathering_.turned(start, count);
    core_.turn(std::move(commands));
    const Duration took = clock_.now().mono - start;
    lock.lock();
    note_health(count, took);
  }
}

}  // namespace hodei::server
