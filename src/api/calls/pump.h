// Pulls a source for a transport. The pump takes the next message only when the previous one has been sent, so a slow
// client delays nobody else. It ends when the source ends, when the client disconnects, and when the server stops.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "src/api/calls/ports.h"
#include "src/api/calls/source.h"

namespace hodei::api {

// What every transport needs of the server.
struct TransportPorts {
  Replies& replies;
  server::ReadPool& files;
  server::OpenCalls& open_calls;
  const Clock& clock;
};

template <class Message>
class Pump final : public std::enable_shared_from_this<Pump<Message>> {
 public:
  // The transport. Both are called with the pump's mutex held: they begin something, and do not wait for it.
  struct Sink {
    std::function<void(const Message&)> write;        // then written() is called; the message lives until then
    std::function<void(const absl::Status&)> finish;  // then close() is called; nothing is written after it
  };

  Pump(const TransportPorts& ports, Sink sink) : ports_(ports), sink_(std::move(sink)) {}

  // A refused call is ended at once.
  void start(SourceOr<Message> source) {
    open_call_ = ports_.open_calls.add([self = this->shared_from_this()](const absl::Status& why) { self->end(why); });
    if (!source.ok()) return end(source.status());
    {
      const std::lock_guard lock(mutex_);
      source_ = *source;
    }
    // The source keeps the pump, until close() lets go of the source.
    (*source)->start([self = this->shared_from_this()] { self->wake(); });
    wake();
  }

  void written(bool ok) {
    if (!ok) return cancel();
    std::unique_lock lock(mutex_);
    writing_ = false;
    if (!can_work()) return;
    if (source_->reads_files()) return work_elsewhere();
    at_work_ = true;
    lock.unlock();
    work();
  }

  void cancel() { end(absl::CancelledError("the client has disconnected")); }

  // The call is over: nothing is called any more.
  void close() {
    std::shared_ptr<Source<Message>> last;  // let go of without the mutex: what feeds it may wait for that
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
      last = std::exchange(source_, nullptr);
    }
    ports_.open_calls.remove(open_call_);
  }

 private:
  void wake() {
    const std::lock_guard lock(mutex_);
    again_ = true;
    if (can_work()) work_elsewhere();
  }

  void end(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    finish(status);
  }

  // All three with the mutex held.
  void finish(const absl::Status& status) {
    if (std::exchange(finished_, true)) return;
    sink_.finish(status);
  }
  bool can_work() const { return !at_work_ && !writing_ && !finished_ && source_ != nullptr; }
  void work_elsewhere() {
    at_work_ = true;
    const auto work = [self = this->shared_from_this()] { self->work(); };
    source_->reads_files() ? ports_.files.post_always(work) : ports_.replies.post(Replies::Lane::Long, work);
  }

  void work() {
    std::shared_ptr<Source<Message>> source;  // outlives the lock
    std::unique_lock lock(mutex_);
    while (!finished_ && source_ != nullptr) {
      again_ = false;
      source = source_;
      lock.unlock();
      const Next next = source->next(message_);
      const absl::Status status = next == Next::End ? source->status() : absl::OkStatus();
      lock.lock();
      if (finished_) break;
      if (next == Next::Wait && again_) continue;
      if (next == Next::End) finish(status);
      if (next == Next::Message) {
        writing_ = true;
        sink_.write(message_);
      }
      break;
    }
    at_work_ = false;
  }

  const TransportPorts ports_;
  const Sink sink_;
  uint64_t open_call_ = 0;
  std::mutex mutex_;  // guards what follows, but for the message while it is made or written
  std::shared_ptr<Source<Message>> source_;
  Message message_;
  bool at_work_ = false;
  bool again_ = false;  // something came up while at work
  bool writing_ = false;
  bool finished_ = false;
};

}  // namespace hodei::api
