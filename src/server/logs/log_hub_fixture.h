// For the tests of the log hub: a worker, a reader and a store that can be held up or fail, all waiting on conditions.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "gtest/gtest.h"
#include "src/server/logs/log_hub.h"
#include "src/store/conformance/log_store_suite.h"
#include "src/store/memory/memory_log_store.h"

namespace hodei::server {

// Only reached when something is broken.
inline constexpr auto kTestDeadline = std::chrono::seconds(20);

class FakeWorker final : public LogSource {
 public:
  void acknowledged(const std::vector<LogAck>& acks) override {
    const std::lock_guard lock(mutex_);
    for (const LogAck& ack : acks) offsets_[ack.execution] = std::max(offsets_[ack.execution], ack.durable_offset);
    changed_.notify_all();
  }
  void room() override {
    const std::lock_guard lock(mutex_);
    ++rooms_;
    changed_.notify_all();
  }

  bool wait_acknowledged(ExecutionId execution, int64_t offset) {
    return wait([=, this] { return offsets_[execution] >= offset; });
  }
  bool wait_room(int times) {
    return wait([=, this] { return rooms_ >= times; });
  }
  int64_t acknowledged_offset(ExecutionId execution) {
    const std::lock_guard lock(mutex_);
    return offsets_[execution];
  }

 private:
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestDeadline, condition);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ExecutionId, int64_t> offsets_;
  int rooms_ = 0;
};

// A gate that next() waits at when there is nothing; owned by the ready-callback too.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestDeadline, [this] { return std::exchange(rung_, false); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

// What a client sees of a subscription.
class Reader {
 public:
  Reader(LogHub& hub, const SubscribeRequest& request) {
    auto opened = hub.subscribe(request, [bell = bell_] { bell->ring(); });
    EXPECT_TRUE(opened.ok()) << opened.status();
    subscription_ = *std::move(opened);
  }

  // Reads on until the stream is closed; false when it takes too long.
  bool read_to_close() {
    return read_while([](const Reader&) { return true; }) == Subscription::Next::Closed;
  }
  // Reads on until there are so many bytes.
  bool read_bytes(size_t count) {
    read_while([count](const Reader& r) { return r.text.size() < count; });
    return text.size() >= count;
  }
  Subscription::Next step() {
    LogChunk chunk;
    const Subscription::Next next = subscription_->next(chunk);
    if (next == Subscription::Next::Chunk) take(chunk);
    return next;
  }
  const absl::Status& status() const { return subscription_->status(); }

  std::string text;
  std::vector<LogGap> gaps;
  std::vector<uint32_t> ends;  // executions whose end marker came
  bool in_order = true;        // offsets and line numbers join
  int64_t next_line = -1;

 private:
  template <class Condition>
  Subscription::Next read_while(Condition condition) {
    auto next = Subscription::Next::Chunk;
    while (condition(*this) && next != Subscription::Next::Closed) {
      next = step();
      if (next == Subscription::Next::Wait && !bell_->wait()) break;
    }
    return next;
  }

  void take(const LogChunk& chunk) {
    if (chunk.gap) gaps.push_back(*chunk.gap);
    if (chunk.execution == last_ && !chunk.gap) {
      in_order = in_order && chunk.offset == next_offset_ && (chunk.lines.empty() || chunk.first_line == next_line);
    }
    last_ = chunk.execution;
    next_offset_ = chunk.next_offset;
    if (!chunk.lines.empty()) next_line = chunk.first_line + static_cast<int64_t>(chunk.lines.size());
    text += chunk.data;
    if (chunk.end_of_execution) ends.push_back(chunk.execution.number);
  }

  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::shared_ptr<Subscription> subscription_;
  ExecutionId last_;
  int64_t next_offset_ = 0;
};

// A store whose appends can be held up or made to fail.
class GatedStore final : public store::NumberedLogStore {
 public:
  explicit GatedStore(store::NumberedLogStore& inner) : inner_(inner) {}

  void hold() {
    set([this] { held_ = true; });
  }
  void let_go() {
    set([this] { held_ = false; });
  }
  void fail_with(absl::Status status) {
    set([&] { failure_ = std::move(status); });
  }
  bool wait_arrivals(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestDeadline, [&] { return arrivals_ >= count; });
  }

  absl::Status append(const std::vector<store::LogPiece>& pieces) override {
    {
      std::unique_lock lock(mutex_);
      ++arrivals_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
      if (!failure_.ok()) return failure_;
    }
    return inner_.append(pieces);
  }
  absl::StatusOr<store::NumberedPiece> read_numbered(ExecutionId e, int64_t from, size_t max) const override {
    return inner_.read_numbered(e, from, max);
  }
  absl::StatusOr<int64_t> offset_of_line(ExecutionId e, int64_t line) const override {
    return inner_.offset_of_line(e, line);
  }
  store::LogExtent extent(ExecutionId e) const override { return inner_.extent(e); }
  std::vector<uint32_t> executions(JobId job) const override { return inner_.executions(job); }
  absl::StatusOr<int64_t> clear(JobId job) override { return inner_.clear(job); }
  absl::StatusOr<int64_t> expire(const store::LogRetention& r, WallTime now) override { return inner_.expire(r, now); }

 private:
  template <class Change>
  void set(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  store::NumberedLogStore& inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  int arrivals_ = 0;
  absl::Status failure_;
};

}  // namespace hodei::server
