// The socket between supervisor and agent: messages of any size, and descriptors with them.
//
// A SOCK_SEQPACKET pair; messages are packed into packets of up to 64 KiB, many small ones into one, a large one over
// several. Nothing blocks: what the socket does not take waits here, up to a limit.
#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/protocol/protocol.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

class Channel {
 public:
  static constexpr size_t kMaxMessage = 32 << 20;
  static constexpr size_t kMaxWaiting = 64 << 20;  // beyond this the other side counts as dead

  explicit Channel(Fd socket) : socket_(std::move(socket)) {}
  static absl::StatusOr<std::pair<Fd, Fd>> make_pair();

  int fd() const { return socket_.get(); }
  pid_t peer() const;  // the process that made the pair; 0: not known

  // Puts a message into the queue; `descriptors` are duplicated, the caller keeps its own. flush() sends.
  void put(const protocol::Message& message, const std::vector<int>& descriptors = {});
  absl::Status flush();  // sends what the socket takes
  bool wants_to_write() const { return sent_ < out_.size(); }

  struct Received {
    protocol::Message message;
    std::vector<Fd> descriptors;
  };
  // Everything that has arrived. An error means that the other side is gone or talks nonsense.
  absl::StatusOr<std::vector<Received>> receive();

 private:
  struct Waiting {
    size_t at;  // where in out_ its message begins
    Fd fd;
  };
  absl::Status send_packet();
  absl::StatusOr<bool> read_packet();
  absl::Status cut_messages(std::vector<Received>& into);

  Fd socket_;
  std::string out_;
  size_t sent_ = 0;
  std::deque<Waiting> out_fds_;
  std::string packet_;  // the place where one packet is received
  std::string in_;
  std::deque<Fd> in_fds_;
  absl::Status broken_;  // why nothing more will come
};

}  // namespace hodei::worker
