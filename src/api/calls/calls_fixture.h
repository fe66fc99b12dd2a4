// For tests of calls without a transport: a fake loop that gives the replies a test has chosen, and answers that a test
// can wait for.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/api/calls/call.h"
#include "src/api/calls/envelope.h"
#include "src/api/calls/ports.h"

namespace hodei::api {

// Only reached when something is broken.
inline constexpr auto kTestPatience = std::chrono::seconds(20);

// Decides by what the test says, at once and on the thread of the call.
class FakeCommands final : public Commands {
 public:
  using Decide = std::function<absl::StatusOr<core::Reply>(const core::Command&)>;

  void post(core::EnvelopePtr envelope, core::Command command, ReplyTo reply, Lane) override {
    take(std::move(envelope), std::move(command), std::move(reply));
  }
  void post_bounded(core::EnvelopePtr envelope, core::Command command, ReplyTo reply, Lane) override {
    take(std::move(envelope), std::move(command), std::move(reply));
  }
  bool is_well() override { return well; }
  server::KeyHorizon key_horizon() override { return {.ask_store = false}; }

  template <class T>
  const T& last() const {
    return std::get<T>(taken.back());
  }

  Decide decide = [](const core::Command&) { return absl::UnavailableError("nobody decides here"); };
  bool well = true;
  std::vector<core::Command> taken;
  std::vector<core::EnvelopePtr> envelopes;  // of those

 private:
  void take(core::EnvelopePtr envelope, core::Command command, ReplyTo reply) {
    absl::StatusOr<core::Reply> answer = decide(command);
    taken.push_back(std::move(command));
    envelopes.push_back(std::move(envelope));
    if (reply) reply(std::move(answer));
  }
};

// The answer of one call, as a caller sees it.
template <class Response>
class Answered {
 public:
  Answer<Response> answer() {
    return {&state_->response, [state = state_](const absl::Status& status) {
              const std::lock_guard lock(state->mutex);
              EXPECT_FALSE(state->status) << "a call is answered once";
              state->status = status;
              state->changed.notify_all();
            }};
  }
  bool is_there() {
    const std::lock_guard lock(state_->mutex);
    return state_->status.has_value();
  }
  // Waits for it.
  absl::Status status() {
    std::unique_lock lock(state_->mutex);
    const bool came = state_->changed.wait_for(lock, kTestPatience, [this] { return state_->status.has_value(); });
    return came ? *state_->status : absl::DeadlineExceededError("no answer came");
  }
  const Response& response() const { return state_->response; }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<absl::Status> status;
    Response response;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline Call a_call() {
  Call call = make_call({.peer = "test", .user = "ann"}, "", "");
  call.cancellation = std::make_shared<Cancellation>();
  return call;
}

}  // namespace hodei::api
