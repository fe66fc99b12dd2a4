// The supervisor's loop: one thread that owns the Keeper, the executions and the socket to the agent.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/worker/agent_launcher.h"
#include "src/worker/channel.h"
#include "src/worker/core/keeper.h"
#include "src/worker/execution_host.h"
#include "src/worker/execution_ledger.h"
#include "src/worker/last_words.h"
#include "src/worker/orphans.h"
#include "src/worker/own_limits.h"
#include "src/worker/pace.h"
#include "src/worker/socket_folder.h"
#include "src/worker/state_folder.h"
#include "src/worker/worker.h"

namespace hodei::worker {

class Supervisor {
 public:
  // `options.worker_id` is settled. `launcher` outlives it.
  Supervisor(WorkerOptions options, StateFolder& state, AgentLauncher& launcher, const Clock& clock);
  ~Supervisor();

  // Kills what an earlier supervisor left, then opens what the loop needs. Blocks the signals it listens to.
  absl::Status start();
  int run();                       // until it is stopped; the process's exit code
  bool turn(int timeout_ms = -1);  // one turn of the loop; false: the end

 private:
  enum Key : uint64_t { kSignals = 1, kTimer, kSpawns, kAgent, kRoom, kWatch };

  void learn_own_limits();
  absl::Status end_leftovers();
  void listen(int fd, uint64_t key, uint32_t events = 1 /* EPOLLIN */);
  void handle(uint64_t key, uint32_t events, Now now);
  void on_signals(Now now);
  void on_watch();
  void reap(Now now);
  void gather();
  void settle(Now now);  // carry out what the Keeper wants until it wants nothing
  void carry_out(const KeeperAction& action, Now now);
  void set_timer();

  // supervisor_stop.cc
  void leave_if_alone(Now now);
  bool is_over(Now now);
  bool is_from_a_job(pid_t sender);
  void recall_last_words();
  void drop_last_words_if_told();
  void leave_last_words();
  void leave_last_output(const LastWords& words);
  bool end_agent();  // false: it may live on for a moment

  void launch_agent(Now now);
  void agent_is_gone(Now now);
  void hear_last_words(Now now);
  void drop_channel(Now now);
  void attach(Now now);
  void share_ring(uint64_t ring);
  void on_agent(Now now);
  void on_message(protocol::Message& message, Now now);
  void tell_input_news();
  void flush(Now now);
  void on_stop_signal(Now now);
  void begin_stop(int exit_code, Duration grace, Now now);

  WorkerOptions options_;
  StateFolder& state_;
  AgentLauncher& launcher_;
  const Clock& clock_;

  std::map<ExecutionId, std::string> keepsakes_;  // of held executions, for the next agent
  SocketFolder socket_folder_;                    // of the socket that agents serve to jobs
  std::string socket_secret_;
  Fd epoll_, signals_, timer_;
  Fd output_ready_;  // eventfds shared with the agent
  Fd room_made_;
  MonoTime timer_set_ = kNever;
  MonoTime last_turn_{0};
  Pace pace_;  // of children that end
  const size_t cores_ = std::max(1u, std::thread::hardware_concurrency());

  Keeper keeper_;
  std::shared_ptr<Orphans> orphans_;
  std::unique_ptr<Enclosures> enclosures_;
  std::optional<ExecutionLedger> ledger_;
  std::unique_ptr<ResourceGroups> groups_;  // null: no limits but those of the enclosures
  OwnLimits cgroup_;                        // that the worker lives in
  bool is_alone_ = false;                   // something has shut the worker in: that cgroup is all its own
  ProgramLimits own_;                       // of the worker as a whole, where it runs one job at a time
  std::optional<WorkFolders> folders_;
  ExecutionWatch watch_;
  RingPool rings_;
  std::unique_ptr<SpawnPool> spawns_;
  std::unique_ptr<ExecutionHost> host_;

  std::optional<Channel> agent_;
  bool agent_writable_watched_ = false;
  pid_t agent_pid_ = 0;
  MonoTime launch_at_{0};
  MonoTime launched_at_{0};
  int quick_deaths_ = 0;

  MonoTime server_heard_{0};  // when the lease was extended last
  MonoTime look_around_at_{0};
  bool stopping_ = false;
  int stop_signals_ = 0;
  uint64_t ignored_signals_ = 0;  // that jobs sent
  MonoTime stop_until_{0};        // when the grace time of a stop ends
  bool agent_left_ = false;       // it said goodbye: no new one is started
  int exit_code_ = 0;
  std::vector<std::string> stopped_before_;  // see LastWords
  std::set<ExecutionId> adopted_;            // from the last words, and not told yet
  bool has_last_words_ = false;              // in the state folder
  bool welcomed_ = false;                    // by a server, at least once
  MonoTime deliver_until_ = kNever;          // once nothing runs: how long the agent may still deliver
};

}  // namespace hodei::worker
