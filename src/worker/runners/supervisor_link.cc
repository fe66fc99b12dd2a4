#include "src/worker/runners/supervisor_link.h"

#include <poll.h>
#include <unistd.h>

#include "src/base/status.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/orphans.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {

absl::Status SupervisorLink::await_attach() {
  while (!is_attached_) {
    pollfd wait{.fd = channel_.fd(), .events = POLLIN, .revents = 0};
    poll(&wait, 1, -1);
    RETURN_IF_ERROR(take_all());
  }
  if (attach_.version == protocol::kVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(cat("the supervisor speaks version ", attach_.version,
                                           " of the protocol, this agent speaks version ", protocol::kVersion));
}

void SupervisorLink::room_was_made() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(room_made_.get(), &one, sizeof(one));
}

bool SupervisorLink::flush() {
  channel_.flush().IgnoreError();  // if it is gone, the next look at the socket says so
  return !channel_.wants_to_write();
}

absl::Status SupervisorLink::take_all() {
  absl::StatusOr<std::vector<Channel::Received>> received = channel_.receive();
  if (!received.ok()) {
    // Without it nothing here is worth anything: jobs are its children, and its successor will start its own agent.
    return absl::UnavailableError(cat("the supervisor is gone: ", std::string(received.status().message())));
  }
  for (Channel::Received& each : *received) {
    if (auto* attach = std::get_if<protocol::Attach>(&each.message)) {
      attach_ = std::move(*attach);
      is_attached_ = true;
      output_ready_ = std::move(each.descriptors[0]);
      room_made_ = std::move(each.descriptors[1]);
    } else if (const auto* shared = std::get_if<protocol::RingShared>(&each.message)) {
      absl::StatusOr<RingMemory> memory = RingMemory::open(std::move(each.descriptors[0]));
      if (!memory.ok()) {
        say("a ring cannot be used: ", std::string(memory.status().message()));
        continue;
      }
      memory->close_fd();
      rings_.insert_or_assign(shared->ring, std::move(*memory));
    } else {
      received_.push_back(std::move(each.message));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<protocol::Message>> SupervisorLink::receive() {
  RETURN_IF_ERROR(take_all());
  return std::exchange(received_, {});
}

RingMemory* SupervisorLink::ring(uint64_t number) {
  const auto it = rings_.find(number);
  return it == rings_.end() ? nullptr : &it->second;
}

void SupervisorLink::kill_all_jobs() const {
  if (!attach_.cgroup.empty()) kill_cgroup_tree(attach_.cgroup);
  kill_marked(attach_.mark);
  // What has left its cgroup and wiped its environment still descends from the supervisor.
  if (const pid_t supervisor = channel_.peer(); supervisor == getppid()) kill_descendants(supervisor, getpid());
}

}  // namespace hodei::worker
