// A server that leads, from the beginning of its term to its end: the real loop, engine, carrier, links, hubs and
// heartbeats over the store that all servers share. All of it is gone when the process dies or the term is lost.
#pragma once

#include <memory>
#include <vector>

#include "src/server/carrier.h"
#include "src/server/heartbeats.h"
#include "src/server/logs/log_hub_core.h"
#include "src/server/loop_core.h"
#include "src/server/order_filler.h"
#include "src/server/tenure.h"
#include "tests/sim/reign_stores.h"
#include "tests/sim/server_node.h"

namespace hodei::sim {

class Reign final : public server::Outlet, private server::LogEnds, private server::WorkerMaker {
 public:
  Reign(ServerNode& node, uint64_t life);
  ~Reign() override;

  void begin();
  uint64_t life() const { return life_; }

  void post(core::Command command, server::ReplyTo reply);
  bool has_ended() const { return core_.deposed() || failed_; }
  bool in_turn() const { return turning_; }

  // For streams and followers.
  server::WorkerLinks& links() { return links_; }
  server::Heartbeats& heartbeats() { return beats_; }
  server::EventHub& events() { return events_; }
  server::LogHubCore& hub() { return hub_; }
  store::Reader& reader() { return reader_; }
  const core::Engine* engine() const { return core_.engine(); }
  World& world() { return node_.world(); }
  Checker& checker() { return node_.checker(); }
  Network& network() { return node_.network(); }
  const std::string& server() const { return node_.name(); }
  ServerNode& node() { return node_; }
  bool is_paused() const { return node_.is_paused(); }
  void when_running(std::function<void()> what);
  // On another thread, a moment later; unless it has ended by then.
  void beside_the_loop(std::function<void()> what);
  const server::OrderFiller& orders() const { return filler_; }
  void plan_hub();
  void check_digest();

 private:
  // Outlet: looks on, and passes it to the carrier.
  void carry_out(const core::Turn& turn, store::Epoch epoch) override;
  void forget_streams(const std::string& why) override;
  // LogEnds.
  void job_finished(JobId job, uint32_t last_execution) override { hub_.job_finished(job, last_execution); }
  void execution_ended(ExecutionId execution, int64_t bytes) override { hub_.execution_ended(execution, bytes); }
  void execution_lost(ExecutionId execution) override;
  // WorkerMaker.
  void create(const core::CreateWorker& wish) override { node_.shared().maker->create(wish, life_); }
  void destroy(const core::DestroyWorker& wish) override { node_.shared().maker->destroy(wish, life_); }
  void providers_changed() override { node_.shared().maker->server_started(life_); }

  void later(Duration wait, std::function<void()> what);  // unless it has ended by then
  void plan_turn(Duration wait);
  void run_turn();
  void tick_hub();

  ServerNode& node_;
  const uint64_t life_;
  FlakyStore store_;
  WatchedReader reader_;
  FlakyLogStore log_store_;
  server::Heartbeats beats_;
  server::WorkerLinks links_;
  server::EventHub events_;
  server::LogHubCore hub_;
  server::Carrier carrier_;
  server::OrderFiller filler_;
  server::Tenure tenure_;
  server::LoopCore core_;
  std::vector<server::Waiting> inbox_;
  bool turn_planned_ = false;
  bool turning_ = false;
  bool hub_planned_ = false;
  bool failed_ = false;  // to begin
  MonoTime wake_planned_ = kNever;
};

}  // namespace hodei::sim
