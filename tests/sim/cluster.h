// The servers of one installation, one to three, over one store: one of them leads. Callers know all of them and find
// out who leads by asking; most of the time they remember.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/reign.h"
#include "tests/sim/server_node.h"
#include "tests/sim/stream_link.h"

namespace hodei::sim {

class Cluster {
 public:
  Cluster(World& world, Checker& checker, Network& network, ServerFaults faults, size_t servers);

  void start();
  void stop_faults();
  void set_maker(MakerEnd* maker) { shared_.maker = maker; }
  void set_watcher(ReignWatcher* watcher) { shared_.watcher = watcher; }
  ServerNode& any();  // one of them, by chance
  ServerNode& at(size_t index) { return *nodes_[index % nodes_.size()]; }
  size_t size() const { return nodes_.size(); }
  // Whoever leads, as far as somebody who looks at the servers can tell. Null: nobody.
  Reign* leader();
  Reign* reign(uint64_t life);  // null: it has ended

  // A call of `caller` over the network. It may be lost, repeated, and its answer may be lost: `reply` gets UNAVAILABLE
  // then, and also from a server that does not lead.
  void call(const std::string& caller, core::Command command, server::ReplyTo reply);
  void call_at(ServerNode& node, const std::string& caller, core::Command command, server::ReplyTo reply);
  // A worker leaves by itself. The call's session is looked up in one turn, what it asks for is decided in a later one.
  void unregister(const std::string& caller, Hash128 session, core::UnregisterWorker bye);
  // Beside the loop, on another thread of the leader: takes its time, and gets null when that server leads no more.
  void read(std::function<void(Reign*)> what);

  std::map<JobId, core::JobState> outcomes() const;
  // What it says of a job that waits, for the words of a failure.
  std::string why_it_waits(JobId job);
  uint64_t commits() const { return shared_.commits; }

 private:
  World& world() { return shared_.world; }
  bool is_lost(const std::string& caller, const ServerNode& node, Towards direction);

  Shared shared_;
  std::vector<std::unique_ptr<ServerNode>> nodes_;
};

}  // namespace hodei::sim
