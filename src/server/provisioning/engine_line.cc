#include "src/server/provisioning/engine_line.h"

#include <chrono>
#include <future>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {

void EngineLine::ask(core::Command command, ReplyTo reply, core::EnvelopePtr envelope) {
  // Held while it is posted: close() returns when nobody is inside. Posting never waits.
  const std::lock_guard lock(posting_);
  if (post_) post_(std::move(command), std::move(reply), std::move(envelope));
}

void EngineLine::tell(const core::Command& command) {
  const std::lock_guard lock(posting_);
  if (!post_) return;
  const auto keep_if_unstored = [weak = weak_from_this(), command](const absl::StatusOr<core::Reply>& reply) {
    const bool no_store = absl::IsUnavailable(reply.status()) || absl::IsResourceExhausted(reply.status());
    if (!no_store) return;
    if (const auto self = weak.lock()) self->keep(command);
  };
  post_(command, keep_if_unstored, nullptr);
}

// Called on the loop's thread, or from within post() by a loop that is stopping.
void EngineLine::keep(core::Command command) {
  const std::lock_guard lock(keeping_);
  if (kept_.size() < kMaxKept) kept_.push_back(std::move(command));
}

void EngineLine::repeat() {
  std::vector<core::Command> again;
  {
    const std::lock_guard lock(keeping_);
    again.swap(kept_);
  }
  for (const core::Command& command : again) tell(command);
}

absl::StatusOr<core::Reply> EngineLine::ask_and_wait(core::Command command, Duration patience,
                                                     core::EnvelopePtr envelope) {
  auto answer = std::make_shared<std::promise<absl::StatusOr<core::Reply>>>();
  std::future<absl::StatusOr<core::Reply>> coming = answer->get_future();
  ask(
      std::move(command), [answer](absl::StatusOr<core::Reply> reply) { answer->set_value(std::move(reply)); },
      std::move(envelope));
  if (coming.wait_for(patience) != std::future_status::ready)
    return absl::UnavailableError("the engine did not answer in time");
  return coming.get();
}

void EngineLine::close() {
  const std::lock_guard lock(posting_);
  post_ = nullptr;
}

}  // namespace hodei::server
