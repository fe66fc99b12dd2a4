// A server in the simulation: the real loop and engine over a memory store, with crashes and failing commits.
#pragma once

#include <memory>
#include <vector>

#include "src/server/heartbeats.h"
#include "src/server/loop_core.h"
#include "src/store/memory/memory_leadership.h"
#include "src/store/memory/memory_store.h"
#include "tests/sim/checker.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"

namespace hodei::sim {

struct ServerFaults {
  double commit_fails = 0;      // chance per commit of each kind of failure
  double crash_in_commit = 0;   // before or after it was applied
  double slow_commit = 0;       // chance of one that takes up to seconds
  double stuck_commit = 0;      // of one that takes longer than leases last
  double call_lost = 0.01;      // chance per call, on its way or on the way back
  double call_repeated = 0.01;  // by something on the way that tries again by itself
  uint64_t digest_every = 100;  // commits
};

// Who makes workers, as the server sees it.
class MakerEnd {
 public:
  virtual ~MakerEnd() = default;
  virtual void create(const core::CreateWorker& wish) = 0;
  virtual void destroy(const core::DestroyWorker& wish) = 0;
  virtual void server_started() = 0;
};

class ServerNode final : public server::Outlet {
 public:
  ServerNode(World& world, Checker& checker, Network& network, ServerFaults faults);
  ~ServerNode() override;

  void start();
  void crash(Duration down_for);
  void pause(Duration length);
  void lose_store(Duration length);  // no commit succeeds and nothing can be loaded for so long, or until it crashes
  bool up() const { return core_ != nullptr; }
  uint64_t life() const { return life_; }
  void set_maker(MakerEnd* maker) { maker_ = maker; }
  void stop_faults();

  // A call of `caller` over the network. It may be lost, repeated, and its answer may be lost: `reply` gets UNAVAILABLE
  // then.
  void call(const std::string& caller, core::Command command, server::ReplyTo reply);
  // From a worker's stream: already travelled; the hello has an answer, the rest none.
  void call_on_stream(core::Command command, server::ReplyTo reply) { post(std::move(command), std::move(reply)); }
  // A worker leaves by itself. The call's session is looked up in one turn, what it asks for is decided in a later one.
  void unregister(const std::string& caller, Hash128 session, core::UnregisterWorker bye);
  void deliver(core::Command command);
  // Heartbeats have a path of their own beside the loop, from when the stream's hello is durable until it ends.
  void stream_opened(uint64_t stream);
  void stream_ended(const core::CloseStream& close);
  void beat(const core::Heartbeat& beat);

  std::map<JobId, core::JobState> outcomes() const;
  // What it says of a job that waits, for the words of a failure.
  std::string why_it_waits(JobId job);
  uint64_t commits() const { return commits_; }

 private:
  class FaultyStore;

  void carry_out(const core::Turn& turn, store::Epoch epoch) override;
  void forget_streams(const std::string& why) override;

  void post(core::Command command, server::ReplyTo reply);
  // Time passes for everybody else while the loop waits for its store.
  void wait_for_disk(Duration length);
  Duration commit_time();
  std::string spec_of(JobId job);
  void plan_turn(Duration wait);
  void run_turn();
  void check_digest();

  World& world_;
  Checker& checker_;
  Network& network_;
  ServerFaults faults_;
  store::MemoryStore store_;
  std::unique_ptr<FaultyStore> faulty_;
  store::MemoryLease lease_;
  std::unique_ptr<store::MemoryLeadership> leadership_;
  std::unique_ptr<server::Tenure> tenure_;
  std::unique_ptr<server::Heartbeats> beats_;
  std::unique_ptr<server::LoopCore> core_;
  std::vector<server::Waiting> inbox_;
  uint64_t life_ = 0;  // events of an earlier life are ignored
  bool turn_planned_ = false;
  MonoTime wake_planned_ = kNever;
  bool crash_now_ = false;
  bool in_commit_ = false;
  Duration paused_until_{0};
  Duration store_away_until_{0};
  uint64_t commits_ = 0;
  MakerEnd* maker_ = nullptr;
};

}  // namespace hodei::sim
