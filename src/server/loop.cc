#include "src/server/loop.h"

#include <algorithm>
#include <iterator>

#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/store/read_check.h"

namespace hodei::server {
namespace {

// What a command costs the loop, in commands of the usual size.
size_t work_of(const core::Command& command) {
  if (const auto* submit = std::get_if<core::Submit>(&command)) return std::max<size_t>(submit->jobs.size(), 1);
  if (const auto* report = std::get_if<core::Report>(&command)) {
    return std::max<size_t>(report->started.size() + report->progress.size() + report->results.size(), 1);
  }
  if (const auto* hello = std::get_if<core::OpenStream>(&command)) return std::max<size_t>(hello->held.size(), 1);
  return 1;
}

// Of what clients can make large.
size_t bytes_of(const core::Command& command) {
  const auto* submit = std::get_if<core::Submit>(&command);
  if (submit == nullptr) return 0;
  size_t bytes = 0;
  for (const core::NewJob& job : submit->jobs)
    bytes += sizeof(job) + (job.spec == nullptr ? 0 : job.spec->bytes.size());
  return bytes;
}

}  // namespace

void Loop::start() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  std::deque<Waiting> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
    core_.resign();
  }
  {
    const std::lock_guard lock(mutex_);
    left.swap(inbox_);
  }
  for (Waiting& w : left) {
    if (w.reply) w.reply(absl::UnavailableError("the server is shutting down; try again in a moment"));
  }
}

void Loop::post(core::Command command, ReplyTo reply, core::EnvelopePtr envelope) {
  add({std::move(command), std::move(reply), std::move(envelope)}, false);
}

void Loop::post_bounded(core::Command command, ReplyTo reply, core::EnvelopePtr envelope) {
  add({std::move(command), std::move(reply), std::move(envelope)}, true);
}

absl::Status Loop::check_room(size_t bytes) const {
  if (inbox_.size() >= kMaxWaiting) {
    return absl::ResourceExhaustedError(cat(kMaxWaiting, " requests are already waiting; try again in a moment"));
  }
  // One that is larger than all the room goes alone, or it would never go.
  if (waiting_bytes_ > 0 && waiting_bytes_ + bytes > kMaxWaitingBytes) {
    return absl::ResourceExhaustedError(
        cat("requests with ", size_text(static_cast<int64_t>(waiting_bytes_)), " of jobs are already waiting (",
            size_text(static_cast<int64_t>(kMaxWaitingBytes)), " is the limit); try again in a moment"));
  }
  return absl::OkStatus();
}

void Loop::add(Waiting waiting, bool is_bounded) {
  const size_t bytes = bytes_of(waiting.command);
  absl::Status refused;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = absl::UnavailableError("the server is shutting down; try again in a moment");
    } else if (is_bounded) {
      refused = check_room(bytes);
    }
    if (refused.ok()) {
      first = inbox_.empty();
      waiting_bytes_ += bytes;
      inbox_.push_back(std::move(waiting));
    }
  }
  if (first) wake_.notify_one();
  if (!refused.ok() && waiting.reply) waiting.reply(refused);
}

std::vector<Waiting> Loop::take() {
  std::vector<Waiting> some;
  size_t work = 0;
  while (!inbox_.empty()) {
    work += work_of(inbox_.front().command);
    if (!some.empty() && work > kMaxPerTurn) break;
    waiting_bytes_ -= bytes_of(inbox_.front().command);
    some.push_back(std::move(inbox_.front()));
    inbox_.pop_front();
  }
  return some;
}

void Loop::put_back(std::vector<Waiting> left) {
  for (const Waiting& w : left) waiting_bytes_ += bytes_of(w.command);
  inbox_.insert(inbox_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
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
    key_horizon_ = {engine->modules().jobs.keys.keys().is_filling(), JobId{engine->modules().jobs.table.next_number()}};
  }
  health_.commands += commands;
  health_.loaded = core_.ready();
  health_.deposed = core_.deposed();
  health_.trouble = core_.trouble();
  health_.commits = core_.tenure().commits();
  health_.epoch = core_.tenure().epoch();
  const MonoTime now = clock_.now().mono;
  if (now >= forget_slowest_at_) {
    health_.slowest_turn = Duration(0);
    forget_slowest_at_ = now + std::chrono::minutes(1);
  }
  health_.slowest_turn = std::max(health_.slowest_turn, turn);
}

void Loop::run() {
  const store::NoReads loop_thread;
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
    size_t count = commands.size();
    lock.unlock();
    const MonoTime start = clock_.now().mono;
    gathering_.turned(start, count);
    std::vector<Waiting> left = core_.turn(std::move(commands));
    count -= left.size();
    const Duration took = clock_.now().mono - start;
    lock.lock();
    put_back(std::move(left));
    note_health(count, took);
  }
}

}  // namespace hodei::server
