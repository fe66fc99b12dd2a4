// A unary call whose answer comes from somewhere that may take long, or never answer: whoever cancels it, and the end
// of the server, do not wait for that.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "grpcpp/support/server_callback.h"
#include "src/api/grpc/translate.h"
#include "src/server/open_calls.h"

namespace hodei::api {

class LateAnswer final {
 public:
  // `on_done` runs once, when the call is over, and lets go of what the answer was to come from.
  explicit LateAnswer(server::OpenCalls& open_calls, std::function<void()> on_done = nullptr)
      : state_(std::make_shared<State>()), call_(new Call(open_calls, state_, std::move(on_done))) {
    state_->call = call_;
    state_->open_call =
        open_calls.add([state = state_](const absl::Status& why) { give(*state, to_grpc(why), nullptr); });
  }

  grpc::ServerUnaryReactor* reactor() const { return call_; }

  // From any thread. `fill` writes the response, and is not called when the caller has gone away.
  void give(const absl::Status& status, const std::function<void()>& fill = nullptr) const {
    give(*state_, to_grpc(status), fill);
  }

 private:
  class Call;
  struct State {
    std::mutex mutex;
    Call* call = nullptr;  // null: answered
    uint64_t open_call = 0;
  };

  class Call final : public grpc::ServerUnaryReactor {
   public:
    Call(server::OpenCalls& open_calls, std::shared_ptr<State> state, std::function<void()> on_done)
        : open_calls_(open_calls), state_(std::move(state)), on_done_(std::move(on_done)) {}
    void OnCancel() override {
      LateAnswer::give(*state_, {grpc::StatusCode::CANCELLED, "the caller has gone away"}, nullptr);
    }
    void OnDone() override {
      open_calls_.remove(state_->open_call);
      if (on_done_) on_done_();
      delete this;
    }

   private:
    server::OpenCalls& open_calls_;
    const std::shared_ptr<State> state_;
    const std::function<void()> on_done_;
  };

  static void give(State& state, const grpc::Status& status, const std::function<void()>& fill) {
    const std::lock_guard lock(state.mutex);
    if (state.call == nullptr) return;
    if (status.ok() && fill) fill();
    std::exchange(state.call, nullptr)->Finish(status);
  }

  std::shared_ptr<State> state_;
  Call* call_;  // its own owner; alive until it was answered
};

}  // namespace hodei::api
