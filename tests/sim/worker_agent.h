// The agent of a worker in the simulation: the real Session, log pump and the real glue between them, over a runner
// whose processes are pretended. It keeps nothing that must survive it.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "src/worker/agent/execution_flow.h"
#include "src/worker/core/keeper.h"
#include "tests/sim/stream_link.h"

namespace hodei::sim {

// Runs what the worker's machine runs. The Keeper is the supervisor's, and outlives it.
class SimRunner final : public worker::Runner {
 public:
  using Start = std::function<void(const worker::RunOrder&)>;
  using Forget = std::function<void(ExecutionId)>;
  SimRunner(worker::Keeper& keeper, Start start, Forget forget)
      : keeper_(keeper), start_(std::move(start)), forget_(std::move(forget)) {}

  std::vector<int> ready_fds() const override { return {}; }
  void start(worker::Launch launch) override { start_(launch.order); }
  void end(ExecutionId execution, worker::KillReason why, Duration grace, Now now) override {
    keeper_.kill(execution, why, grace, now);
  }
  void forget(ExecutionId execution) override {
    keeper_.forget(execution);
    forget_(execution);
  }
  void keep_notes(ExecutionId) override {}
  void extend_lease(MonoTime until) override { keeper_.extend_lease(until); }
  void connected(const worker::ServerAccess&) override {}
  void disconnected() override {}
  void look(Now) override {}
  void tick(Now) override {}
  MonoTime next_due() const override { return kNever; }
  std::vector<worker::run::Event> take_events() override { return std::exchange(events_, {}); }
  bool flush() override { return true; }
  bool responds() const override { return true; }
  void beat(Now, bool) override {}

  void tell(worker::run::Event event) { events_.push_back(std::move(event)); }

 private:
  worker::Keeper& keeper_;
  Start start_;
  Forget forget_;
  std::vector<worker::run::Event> events_;
};

struct SimAgent {
  // Messages and batches are small, so that output needs many of them.
  static worker::LogPumpConfig small_batches() {
    worker::LogPumpConfig config;
    config.message_bytes = 1024;
    config.hurry_bytes = 300;
    config.batch_lines = 8;
    return config;
  }
  SimAgent(worker::Keeper& keeper, uint64_t seed, SimRunner::Start start, SimRunner::Forget forget,
           std::function<void()> room_made)
      : session({}, seed),
        masks(notes),
        pump(small_batches(), std::move(room_made)),
        runner(keeper, std::move(start), std::move(forget)),
        flow(session, pump, runner, masks) {}

  worker::NotesByExecution notes;
  worker::Session session;
  worker::ExecutionMasks masks;
  worker::LogPump pump;
  SimRunner runner;
  worker::ExecutionFlow flow;
  FromWorker outgoing;
  bool has_outgoing = false;
};

}  // namespace hodei::sim
