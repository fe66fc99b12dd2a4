// The agent's end of the socket to the supervisor, with the supervisor's first message and the shared rings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/worker/output/ring.h"
#include "src/worker/protocol/channel.h"
#include "src/worker/protocol/protocol.h"

namespace hodei::worker {

class SupervisorLink {
 public:
  explicit SupervisorLink(Fd socket) : channel_(std::move(socket)) {}

  // Waits until the supervisor has said what the agent must know; an error: it never will.
  absl::Status await_attach();
  const protocol::Attach& attach() const { return attach_; }

  int fd() const { return channel_.fd(); }
  int output_ready_fd() const { return output_ready_.get(); }
  void room_was_made() const;  // in a ring
  void put(const protocol::Message& message) { channel_.put(message); }
  bool flush();  // false: some of it still waits
  // Everything that has arrived but rings, which it keeps. An error: the supervisor is gone.
  absl::StatusOr<std::vector<protocol::Message>> receive();
  RingMemory* ring(uint64_t number);  // null: there is none
  // What descends from the supervisor but not from this process; for when it hangs.
  void kill_all_jobs() const;

 private:
  absl::Status take_all();

  Channel channel_;
  protocol::Attach attach_;
  bool is_attached_ = false;
  Fd output_ready_, room_made_;
  std::map<uint64_t, RingMemory> rings_;
  std::vector<protocol::Message> received_;
};

// Whether the supervisor still answers. It is asked with each heartbeat; one that does not answer cannot end jobs when
// their lease ends, so somebody else must.
class LifeSigns {
 public:
  static constexpr Duration kPatience = 1s;

  // The number of the question.
  uint64_t ask(MonoTime now) {
    asked_at_ = now;
    return ++asked_;
  }
  void answered(uint64_t number) { answered_ = number; }
  bool all_answered() const { return asked_ == answered_; }

  // When to give it up: not before the lease has ended, and only once for a question.
  MonoTime gives_up_at(MonoTime lease_until) const {
    if (all_answered() || asked_ == given_up_) return kNever;
    return std::max(lease_until, asked_at_ + kPatience);
  }
  void give_up() { given_up_ = asked_; }

 private:
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
  uint64_t given_up_ = 0;
  MonoTime asked_at_{0};
};

}  // namespace hodei::worker
