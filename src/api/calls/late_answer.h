// A unary call whose answer may take long or never come. If the caller cancels, or the server stops, the call ends
// without waiting for the answer.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "src/api/calls/call.h"
#include "src/server/open_calls.h"

namespace hodei::api {

template <class Response>
class LateAnswer final {
 public:
  // `on_done` runs once, right after the answer was given, and lets go of what it was to come from.
  LateAnswer(const Call& call, server::OpenCalls& open_calls, Answer<Response> answer,
             std::function<void()> on_done = nullptr)
      : state_(std::make_shared<State>(open_calls, std::move(answer), std::move(on_done))) {
    state_->watch();
    if (call.cancellation == nullptr) return;
    call.cancellation->on_cancel([weak = std::weak_ptr<State>(state_)] {
      if (const auto state = weak.lock()) state->give(absl::CancelledError("the caller has gone away"), nullptr);
    });
  }

  // From any thread but one that `on_done` might wait for. `fill` writes the response, and is not called when the call
  // has been answered otherwise.
  void give(const absl::Status& status, const std::function<void(Response*)>& fill = nullptr) const {
    state_->give(status, fill);
  }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(server::OpenCalls& calls, Answer<Response> a, std::function<void()> done)
        : open_calls(calls), answer(std::move(a)), on_done(std::move(done)) {}

    void watch() {
      const uint64_t call =
          open_calls.add([state = this->shared_from_this()](const absl::Status& why) { state->give(why, nullptr); });
      std::unique_lock lock(mutex);
      open_call = call;
      lock.unlock();
    }

    void give(const absl::Status& status, const std::function<void(Response*)>& fill) {
      std::optional<Answer<Response>> mine;
      uint64_t call = 0;
      {
        const std::lock_guard lock(mutex);
        if (!answer) return;
        if (status.ok() && fill) fill(answer->out);
        mine = std::exchange(answer, std::nullopt);
        call = open_call;
      }
      mine->give(status);
      open_calls.remove(call);
      if (on_done) on_done();
    }

    server::OpenCalls& open_calls;
    std::mutex mutex;                        // guards what follows
    std::optional<Answer<Response>> answer;  // nothing: answered
    uint64_t open_call = 0;
    const std::function<void()> on_done;
  };

  std::shared_ptr<State> state_;
};

}  // namespace hodei::api
