// The path of heartbeats through the server: from a worker's stream to its acknowledgement, on the thread that read it.
// No commit, load or long turn of the loop can hold it up. The loop collects what has come at the beginning of every
// turn.
//
// Why it is safe to acknowledge before the loop has seen the heartbeat: the loop gives a worker's executions to others
// when it has collected nothing for one and a half leases, and it collects before it decides that. Whatever is
// acknowledged here extends executions that are alive, so an acknowledged heartbeat came at most one lease before; it
// cannot be missing from half a lease later on.
//
// Only a server that leads may extend leases: heartbeats are acknowledged under a valid term. When its time runs out,
// acknowledgements stop by themselves, whatever the loop is waiting for.
#pragma once

#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/time.h"
#include "src/core/commands.h"

namespace hodei::server {

class Heartbeats {
 public:
  explicit Heartbeats(const Clock& clock) : clock_(clock) {}

  // The term of this server is valid until then. Before the first call it has none. 0: it does not lead any more.
  void lead_until(MonoTime end_of_term);
  // The stream's hello is durable: its heartbeats count from now on.
  void open(uint64_t stream);
  // The stream was replaced, dropped, or has ended: nothing more of it is acknowledged.
  void close(uint64_t stream);
  // From any thread. True: acknowledge it now. False: its worker must open a new stream, perhaps to another server.
  bool take(const core::Heartbeat& beat);

  // For the loop: the newest of each stream since the last call. They have been acknowledged.
  std::vector<core::Heartbeat> collect();

 private:
  // One entry per open stream, so its size is bounded by the number of streams.
  struct Stream {
    core::Heartbeat newest;
    bool is_new = false;  // in `waiting_`
  };
  const Clock& clock_;
  std::mutex mutex_;  // guards what follows
  MonoTime end_of_term_{0};
  absl::flat_hash_map<uint64_t, Stream> streams_;
  std::vector<uint64_t> waiting_;
  std::vector<core::Heartbeat> left_;  // of streams that were closed since the last collect()
};

}  // namespace hodei::server
