// A unary call whose answer comes from somewhere that may never answer: whoever cancels it, and the end of the server,
// do not wait for that.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "grpcpp/support/server_callback.h"
#include "src/api/grpc/translate.h"

namespace hodei::api {

class LateAnswer final {
 public:
  LateAnswer() : call_(new Call(state_)) {}

  grpc::ServerUnaryReactor* reactor() const { return call_; }

  // From any thread. `fill` writes the response, and is not called when nobody waits any more.
  void give(const absl::Status& status, const std::function<void()>& fill = nullptr) const { give(*state_, call_, to_grpc(status), fill); }

 private:
  struct State {
    std::mutex mutex;
    bool is_answered = false;
  };

  class Call final : public grpc::ServerUnaryReactor {
   public:
    explicit Call(std::shared_ptr<State> state) : state_(std::move(state)) {}
    void OnCancel() override { LateAnswer::give(*state_, this, {grpc::StatusCode::CANCELLED, "nobody waits any more"}, nullptr); }
    void OnDone() override { delete this; }

   private:
    const std::shared_ptr<State> state_;
  };

  static void give(State& state, Call* call, const grpc::Status& status, const std::function<void()>& fill) {
    {
      const std::lock_guard lock(state.mutex);
      if (std::exchange(state.is_answered, true)) return;
      if (status.ok() && fill) fill();
    }
    call->Finish(status);
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
  Call* call_;   // its own owner; alive until it was answered
};

}  // namespace hodei::api
