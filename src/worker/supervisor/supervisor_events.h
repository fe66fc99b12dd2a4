// The events that wake the supervisor's loop: signals, a timer, and descriptors of its parts.
#pragma once

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "src/base/time.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

class SupervisorEvents {
 public:
  // Keys of what it listens to; those of pipes are above ExecutionHost::kPipeKeys.
  enum Key : uint64_t { kSignals = 1, kTimer, kSpawns, kAgent, kRoom, kWatch };

  absl::Status open();  // blocks the signals it listens to
  int epoll() const { return epoll_.get(); }
  void listen(int fd, Key key) const;
  void listen_to_room(int fd, Key key, bool wanted) const;  // for writing; the descriptor is listened to already
  std::span<const epoll_event> wait(int timeout_ms);
  std::vector<signalfd_siginfo> signals() const;

  void set_timer(MonoTime next);
  void timer_rang();

  // Shared with the agent.
  int output_ready_fd() const { return output_ready_.get(); }
  int room_made_fd() const { return room_made_.get(); }
  void tell_output() const;
  void take_room() const;

 private:
  Fd epoll_, signals_, timer_, output_ready_, room_made_;
  MonoTime timer_set_ = kNever;
  std::vector<epoll_event> events_;
};

}  // namespace hodei::worker
