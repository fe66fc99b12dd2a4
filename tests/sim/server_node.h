// A server process in the simulation: it campaigns, leads (reign.h) or stands by, is paused, loses its store, crashes
// and comes back.
#pragma once

#include <memory>
#include <string>

#include "src/store/memory/memory_log_store.h"
#include "src/store/memory/memory_store.h"
#include "tests/sim/checker.h"
#include "tests/sim/lease.h"
#include "tests/sim/network.h"
#include "tests/sim/server_faults.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Reign;
class StreamLink;

// What all servers have in common.
struct Shared {
  Shared(World& its_world, Checker& its_checker, Network& its_network, ServerFaults its_faults,
         Duration its_lease_length)
      : world(its_world),
        checker(its_checker),
        network(its_network),
        faults(its_faults),
        logs(&its_world),
        lease_length(its_lease_length) {}

  World& world;
  Checker& checker;
  Network& network;
  ServerFaults faults;
  store::MemoryStore store;
  store::MemoryLogStore logs;
  store::MemoryLease lease;
  const Duration lease_length;
  MakerEnd* maker = nullptr;
  ReignWatcher* watcher = nullptr;
  uint64_t lives = 0;  // reigns so far
  uint64_t commits = 0;
};

class ServerNode {
 public:
  ServerNode(Shared& shared, std::string name);
  ~ServerNode();

  void start();
  void crash(Duration down_for);
  void pause(Duration length);
  void lose_store(Duration length);  // no commit succeeds and nothing can be loaded for so long, or until it crashes
  void fill_log_disk(Duration length);
  void stop_faults();

  store::Leadership& leadership() { return leadership_; }
  Reign* reign() { return reign_.get(); }  // null: it does not lead
  const std::string& name() const { return name_; }
  Shared& shared() { return shared_; }
  World& world() { return shared_.world; }
  Checker& checker() { return shared_.checker; }
  Network& network() { return shared_.network; }

  // A worker opens a stream to it. Null: it does not lead.
  std::shared_ptr<StreamLink> open_stream(const WorkerId& worker, uint64_t stream);

  bool is_paused() const { return shared_.world.elapsed() < paused_until_; }
  Duration paused_for() const { return paused_until_ - shared_.world.elapsed(); }
  bool store_is_away() const { return shared_.world.elapsed() < store_away_until_; }
  bool log_disk_is_full() const { return shared_.world.elapsed() < log_disk_full_until_; }

  // For its loop. Time passes for everybody else while it waits for its store.
  void wait_for_disk(Duration length);
  Duration commit_time();
  bool is_crashing() const { return crash_now_; }
  void crash_soon() { crash_now_ = true; }
  void set_on_loop(bool yes) { on_loop_ = yes; }
  bool on_loop() const { return on_loop_; }  // what happens now happens on the loop's thread
  void turn_ended();                         // and the reign with it

 private:
  void stand_by();  // and campaign when nobody leads
  void end_reign();

  Shared& shared_;
  const std::string name_;
  WatchedLeadership leadership_;
  std::unique_ptr<Reign> reign_;
  uint64_t process_ = 0;  // events of an earlier one are ignored
  bool down_ = true;
  bool crash_now_ = false;
  bool on_loop_ = false;
  Duration paused_until_{0};
  Duration store_away_until_{0};
  Duration log_disk_full_until_{0};
};

}  // namespace hodei::sim
