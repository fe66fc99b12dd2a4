// A server stream that is fed from elsewhere: messages wait in a bounded queue while one is being written. What a slow
// client makes overflow is counted and left out; the subclass says so with a gap message.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "grpcpp/support/server_callback.h"
#include "src/api/grpc/translate.h"
#include "src/server/open_calls.h"

namespace hodei::api {

// Kept alive by whoever feeds it; the reactor inside deletes itself when the call is over.
template <class Message>
class QueuedWriter {
 public:
  static constexpr size_t kMaxQueued = 1'000;

  // `on_done` runs once, when the call is over, and lets go of the feed. A server that stops ends the call at once.
  QueuedWriter(server::OpenCalls& open_calls, std::function<void()> on_done) : state_(std::make_shared<State>()) {
    state_->reactor = new Reactor(open_calls, state_, std::move(on_done));
    state_->open_call = open_calls.add([state = state_](const absl::Status& why) { state->end_now(to_grpc(why)); });
  }

  grpc::ServerWriteReactor<Message>* reactor() const { return state_->reactor; }

  void push(Message message) {
    const std::lock_guard lock(state_->mutex);
    if (state_->reactor == nullptr || state_->closing) return;
    if (state_->queue.size() >= kMaxQueued) {
      ++state_->lost;
      return;
    }
    state_->queue.push_back(std::move(message));
    state_->write_next();
  }

  // After what is queued.
  void close(grpc::Status status) {
    const std::lock_guard lock(state_->mutex);
    if (state_->reactor == nullptr || state_->closing) return;
    state_->closing = std::move(status);
    state_->write_next();
  }

  // How many were left out since the last question.
  int64_t take_lost() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->lost, 0);
  }

 private:
  class Reactor;
  struct State {
    std::mutex mutex;
    Reactor* reactor = nullptr;  // null: the call is over
    std::deque<Message> queue;
    Message current;
    bool writing = false;
    bool finished = false;
    int64_t lost = 0;
    std::optional<grpc::Status> closing;
    uint64_t open_call = 0;

    // Without what is queued.
    void end_now(grpc::Status status) {
      const std::lock_guard lock(mutex);
      if (reactor == nullptr) return;
      queue.clear();
      closing = std::move(status);
      write_next();
    }

    void write_next() {
      if (writing || finished) return;
      if (!queue.empty()) {
        current = std::move(queue.front());
        queue.pop_front();
        writing = true;
        reactor->StartWrite(&current);
      } else if (closing) {
        finished = true;
        reactor->Finish(*closing);
      }
    }
  };

  class Reactor final : public grpc::ServerWriteReactor<Message> {
   public:
    Reactor(server::OpenCalls& open_calls, std::shared_ptr<State> state, std::function<void()> on_done)
        : open_calls_(open_calls), state_(std::move(state)), on_done_(std::move(on_done)) {}

    void OnWriteDone(bool ok) override {
      const std::lock_guard lock(state_->mutex);
      state_->writing = false;
      if (!ok) {
        state_->queue.clear();
        state_->closing = grpc::Status::CANCELLED;
      }
      state_->write_next();
    }
    void OnCancel() override { state_->end_now(grpc::Status::CANCELLED); }
    void OnDone() override {
      {
        const std::lock_guard lock(state_->mutex);
        state_->reactor = nullptr;
      }
      open_calls_.remove(state_->open_call);
      on_done_();
      delete this;
    }

   private:
    server::OpenCalls& open_calls_;
    std::shared_ptr<State> state_;
    std::function<void()> on_done_;
  };

  std::shared_ptr<State> state_;
};

}  // namespace hodei::api
