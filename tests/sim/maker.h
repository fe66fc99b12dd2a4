// A provider in the simulation, and the server's part that calls it: slow, failing, and at times lying. What it made
// outlives the server; what the server knew of its calls does not.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tests/sim/cluster.h"
#include "tests/sim/worker_node.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Maker final : public MakerEnd {
 public:
  static constexpr const char* kName = "maker";

  Maker(World& world, Checker& checker, Network& network, Cluster& servers, uint32_t room)
      : world_(world), checker_(checker), network_(network), servers_(servers), room_(room) {}

  void plan();                       // its health, and what it has, are told from time to time
  void behave() { honest_ = true; }  // trouble is over
  bool has_nothing() const { return existing() == 0; }

  void create(const core::CreateWorker& wish, uint64_t life) override;
  void destroy(const core::DestroyWorker& wish, uint64_t life) override { end(wish.worker, life); }
  void server_started(uint64_t life) override;

 private:
  struct Resource {
    std::unique_ptr<WorkerNode> node;
    bool exists = false;
  };

  size_t existing() const;
  void introduce();
  void tell(core::Command command, uint64_t life);
  void make(const WorkerId& id, Hash128 otp, uint64_t life, bool says_so, bool comes_up);
  void end(const WorkerId& id, uint64_t life);
  void count_stock(uint64_t life);

  World& world_;
  Checker& checker_;
  Network& network_;
  Cluster& servers_;
  const uint32_t room_;
  bool honest_ = false;
  bool introduced_ = false;
  uint64_t counts_ = 0;
  std::map<WorkerId, Resource> resources_;
};

}  // namespace hodei::sim
