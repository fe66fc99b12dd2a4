// A worker in the simulation: the real Keeper, Session, log pump and what joins them, pretended processes, and deaths
// of each part.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/base/text.h"
#include "src/worker/core/keeper.h"
#include "tests/sim/checker.h"
#include "tests/sim/cluster.h"
#include "tests/sim/network.h"
#include "tests/sim/output_pipe.h"
#include "tests/sim/traits.h"
#include "tests/sim/worker_agent.h"
#include "tests/sim/world.h"

namespace hodei::sim {

// How one execution of a pretended job goes; follows from its number, so that every replay is the same.
struct Behaviour {
  Duration runs{0};
  int exit_code = 0;
  bool ignores_term = false;
  int prints = 0;           // times
  size_t print_bytes = 0;   // about, at a time
  bool over_limit = false;  // and then more than it may
};

class WorkerNode final : public StreamEnd {
 public:
  WorkerNode(World& world, Checker& checker, Network& network, Cluster& servers, std::string id, uint32_t slots);
  // A second machine under the id of the first: with a copy of its state folder, or with a token of its own.
  WorkerNode(const WorkerNode& first, std::string machine, bool copies_state);

  // A provider made it: this token is all it has, and when it is turned away it ends.
  void is_made(Hash128 otp, std::string provider);
  void destroy();  // everything of it is gone, at once and for good

  void boot();  // the supervisor starts, then its agent
  void kill_agent(Duration down_for);
  void kill_supervisor(Duration down_for);       // processes live on until the successor kills them
  void freeze(Duration length);                  // SIGSTOP of the whole tree
  void cut(Towards direction, Duration length);  // its streams and its calls
  void stop(Duration grace);                     // SIGTERM: it says so, ends what it has, and is started again
  void flap(int times);                          // its connection breaks again and again
  void refuse(Duration length);                  // every order is turned down at once
  void lie();                                    // tells of an execution that is another worker's
  bool running() const { return keeper_ != nullptr; }

  // A message from the server; those of an older stream are dropped.
  void heard(uint64_t stream, const server::ToWorker& message);
  void stream_broken(uint64_t stream) override;

 private:
  struct Process {
    Behaviour how;
    bool dying = false;
  };
  // That has ended, and whose output is not in its ring yet.
  struct Ending {
    int exit_code = 0;
    int signal = 0;
  };
  using Done = std::function<void(absl::StatusOr<core::Reply>)>;

  // Runs now, or when the tree is thawed.
  void when_awake(std::function<void()> what);
  void start_agent();
  void connect();
  void open_stream();
  void token_worked(core::RegisterWorker reg);
  void drop_agent();
  void act();
  void settle();
  void hear_runner();
  void send();
  void carry_out(const worker::SessionAction& action);
  void leave(const worker::Leave& leave);
  void take(const server::ToWorker& message);
  std::string incarnation() const { return cat(machine_, "-", incarnation_); }
  std::string lineage() const { return cat(machine_, "-boot-", reboots_); }
  void call(core::Command command, Done done) {
    servers_.call_at(servers_.at(server_), machine_, std::move(command), std::move(done));
  }
  void tell_by_call(core::Report report);
  void start(const worker::RunOrder& order);
  void carry_out(const worker::KeeperAction& action);
  void spawn(ExecutionId execution);
  void kill_processes();
  void leave_if_nothing_runs();
  void leave_last_words();
  void supervisor_is_gone(Duration down_for);
  void print(ExecutionId execution, int times);
  void end_process(ExecutionId execution, int exit_code, int signal);
  void end_if_drained(ExecutionId execution);
  void room_was_made();
  void plan_tick();
  Behaviour behaviour_of(ExecutionId execution) const;

  World& world_;
  Checker& checker_;
  Network& network_;
  Cluster& servers_;
  size_t server_ = 0;  // that it tries now
  WorkerId id_;
  std::string machine_;  // two machines may claim one id
  uint32_t slots_;
  std::unique_ptr<worker::Keeper> keeper_;
  std::unique_ptr<SimAgent> agent_;
  std::map<ExecutionId, OutputPipe> pipes_;  // the supervisor's
  std::map<ExecutionId, Ending> ending_;
  std::map<ExecutionId, Process> processes_;
  std::map<ExecutionId, Traits> orders_;
  uint64_t stream_ = 0;
  std::weak_ptr<StreamLink> link_;  // the server's end of it
  uint64_t agent_life_ = 0;
  uint64_t supervisor_life_ = 0;
  uint64_t tick_plan_ = 0;
  Duration refuses_until_{0};
  std::optional<Hash128> registered_;  // session hash, kept on disk
  Hash128 otp_{};
  bool has_otp_ = false;
  std::string provider_ = "manual";
  bool destroyed_ = false;
  bool stopping_ = false;  // this supervisor was told to
  // On the disk of its machine: what a supervisor that was stopped could not tell.
  struct LastWords {
    std::vector<std::string> stopped;
    std::vector<worker::Exit> exits;
    worker::LastOutput output;
  };
  std::optional<LastWords> last_words_;
  std::vector<std::string> stopped_before_;
  uint64_t reboots_ = 0;  // of the machine: each begins a lineage
  uint64_t incarnation_ = 0;
  Duration frozen_until_{0};
};

}  // namespace hodei::sim
