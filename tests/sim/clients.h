// People and programs in the simulation: they submit, insist until they are answered, and cancel now and then.
#pragma once

#include <set>

#include "tests/sim/checker.h"
#include "tests/sim/cluster.h"
#include "tests/sim/followers.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Clients {
 public:
  Clients(World& world, Checker& checker, Cluster& servers, Followers& followers)
      : world_(world), checker_(checker), servers_(servers), followers_(followers) {}

  // Some jobs want a worker that this provider makes.
  void use_provider(std::string name) { provider_ = std::move(name); }

  // Spreads this many submissions over the given time.
  void plan(int submissions, Duration over);
  // Somebody changes shares, quotas and limits this often. None of them keeps a job waiting for ever.
  void plan_settings(int changes, Duration over);
  // Somebody stores new values of a few secrets, one after another.
  void plan_secrets(int changes, Duration over);
  // In half of all worlds people change strategies, packing and preemption, and taint workers w0, w1, …
  void plan_scheduling(uint64_t workers, Duration over);
  // No submission waits for its answer, or to be tried again.
  bool has_submitted_all() const { return submitting_.empty(); }

 private:
  void submit(uint64_t key, int jobs);
  void cancel(JobId job);
  void change_setting();
  void untaint(const WorkerId& worker, Duration when);
  core::NewJob make_job(uint64_t key);
  void store_secret(const std::string& name, int times);
  void call(core::Command command, server::ReplyTo reply) {
    servers_.call("a client", std::move(command), std::move(reply));
  }

  World& world_;
  Checker& checker_;
  Cluster& servers_;
  Followers& followers_;
  std::string provider_;
  std::set<uint64_t> submitting_;  // keys
};

}  // namespace hodei::sim
