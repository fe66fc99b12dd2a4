// Who led when, by our own account: one server at a time, and only the one that leads writes and extends leases.
#pragma once

#include <string>

#include "src/store/store.h"
#include "tests/sim/world.h"

namespace hodei::sim {

class Leaders {
 public:
  explicit Leaders(World& world) : world_(world) {}

  void began(const std::string& server, store::Epoch epoch, MonoTime until) {
    if (world_.now().mono < until_) world_.broken(cat(server, " begins to lead while ", server_, " leads"));
    if (epoch <= epoch_) world_.broken(cat(server, " begins to lead with an epoch that was there before"));
    server_ = server;
    epoch_ = epoch;
    until_ = until;
  }
  void renewed(store::Epoch epoch, MonoTime until) {
    if (epoch != epoch_) world_.broken("the term of a server that was deposed is renewed");
    until_ = until;
  }
  // The store has taken a batch.
  void wrote(const std::string& server, store::Epoch epoch) {
    if (server != server_ || epoch != epoch_) world_.broken(cat(server, " was deposed, and its batch is stored"));
  }
  // A lease was extended: whoever leads next must not have begun.
  void acknowledged_heartbeat(const std::string& server) {
    if (server != server_ || world_.now().mono >= until_)
      world_.broken(cat(server, " acknowledges a heartbeat and does not lead"));
  }

 private:
  World& world_;
  std::string server_;
  store::Epoch epoch_{};
  MonoTime until_{0};
};

}  // namespace hodei::sim
