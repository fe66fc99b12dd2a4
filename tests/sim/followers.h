// Those who follow jobs in the simulation: some watch for the end of a job, some read its output, some look it up. Each
// does what the calls of src/api/calls do, with the server's own event hub, log hub and reader, on threads beside the
// loop; when its server goes away it starts over.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "tests/sim/cluster.h"
#include "tests/sim/outputs.h"

namespace hodei::sim {

class Followers final : public ReignWatcher {
 public:
  Followers(World& world, Checker& checker, Cluster& servers, Duration trouble_ends)
      : world_(world), checker_(checker), servers_(servers), trouble_ends_(trouble_ends) {}

  // A client has submitted this job: by chance, somebody follows it.
  void told(JobId job);
  // Everybody else has finished: reads what is left of the output of every job that anybody was told of.
  void read_all();
  void reign_ended(uint64_t life) override;

  bool all_done() const { return watches_.empty() && readings_.empty(); }
  // From time to time: whoever follows a job that has ended must have heard of it, a while after the last fault.
  void check_overdue() const;

 private:
  struct Watch {
    JobId job;
    uint64_t life = 0;  // 0: is about to start over
    uint64_t number = 0;
    std::optional<Duration> ended;  // when its job had, as far as anybody has looked
  };
  struct Reading {
    JobId job;
    uint64_t life = 0;
    std::shared_ptr<server::Subscription> output;
    Received received;
    bool is_slow = false;
    uint64_t round = 0;  // word of an earlier subscription is ignored
  };

  void watch(uint64_t id);
  void watch_later(uint64_t id);
  void read(uint64_t id);
  void read_later(uint64_t id);
  void pull(uint64_t id, uint64_t round);
  void look_up(JobId job, int times);
  void check_overdue(JobId job, const char* who) const;

  World& world_;
  Checker& checker_;
  Cluster& servers_;
  const Duration trouble_ends_;
  uint64_t next_ = 1;
  std::map<uint64_t, Watch> watches_;
  std::map<uint64_t, Reading> readings_;
  std::set<JobId> jobs_;
};

}  // namespace hodei::sim
