// The line from the provisioner's threads to the engine. What the engine must learn is said again until it was taken;
// after close() nothing is said any more, whoever still holds the line.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "src/server/loop_core.h"

namespace hodei::server {

class EngineLine : public std::enable_shared_from_this<EngineLine> {
 public:
  using Post = std::function<void(core::Command, ReplyTo, core::EnvelopePtr)>;

  explicit EngineLine(Post post) : post_(std::move(post)) {}

  // Returns at once. A command that the engine refuses for what it says is dropped; one that found no store is kept.
  void tell(const core::Command& command);
  // Calls back on the loop's thread; not after close().
  void ask(core::Command command, ReplyTo reply, core::EnvelopePtr envelope = nullptr);
  // Blocks; UNAVAILABLE when no answer comes in time.
  absl::StatusOr<core::Reply> ask_and_wait(core::Command command, Duration patience,
                                           core::EnvelopePtr envelope = nullptr);

  // What was kept, once more.
  void repeat();
  void close();

  static constexpr size_t kMaxKept = 100'000;

 private:
  void keep(core::Command command);

  std::mutex posting_;
  Post post_;           // empty: closed
  std::mutex keeping_;  // never held while something is posted
  std::vector<core::Command> kept_;
};

}  // namespace hodei::server
