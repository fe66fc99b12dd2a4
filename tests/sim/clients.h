// People and programs in the simulation: they submit, insist until they are answered, and cancel now and then.
#pragma once

#include "tests/sim/checker.h"
#include "tests/sim/server_node.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Clients {
 public:
  Clients(World& world, Checker& checker, ServerNode& server) : world_(world), checker_(checker), server_(server) {}

  // Spreads this many submissions over the given time.
  void plan(int submissions, Duration over);
  // In half of all worlds people change strategies, packing and preemption, and taint workers w0, w1, …
  void plan_settings(uint64_t workers, Duration over);

 private:
  void submit(uint64_t key, int jobs);
  void cancel(JobId job);
  void untaint(const WorkerId& worker, Duration when);
  core::NewJob make_job(uint64_t key);

  World& world_;
  Checker& checker_;
  ServerNode& server_;
};

}  // namespace hodei::sim
