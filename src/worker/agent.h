// The agent's loop: between the supervisor's socket and the server's stream. It decides nothing itself: the Session
// does; it keeps nothing that must survive it: the supervisor does.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "src/worker/artifacts/porter.h"
#include "src/worker/channel.h"
#include "src/worker/core/session.h"
#include "src/worker/input_link.h"
#include "src/worker/job_reports.h"
#include "src/worker/job_socket.h"
#include "src/worker/keepsake.h"
#include "src/worker/log_pump.h"
#include "src/worker/mask_builder.h"
#include "src/worker/metrics_door.h"
#include "src/worker/pace.h"
#include "src/worker/server_link.h"
#include "src/worker/usage_cache.h"
#include "src/worker/worker_info.h"

namespace hodei::worker {

class Agent {
 public:
  Agent(Fd socket, const Clock& clock);
  int run();  // until it has left, or the supervisor is gone

 private:
  enum class State : uint8_t { Running, Left, Orphaned };
  enum Key : uint64_t { kLoop = 0, kJobs };  // what woke the loop; it looks at all but the jobs anyway

  bool open();
  void wait();
  void settle(Now now);     // carry out what the Session wants until it wants nothing
  MonoTime may_write_at();  // a busy worker tells several things at once
  void send(Now now);       // one message with all that waits, if the stream takes one

  // From the supervisor.
  void hear_supervisor(Now now);
  void on_message(Channel::Received& received, Now now);
  void on_attach(Channel::Received& received, Now now);
  RingMemory* ring(uint64_t number);
  void follow_output(ExecutionId execution, RingMemory* ring);
  void guard_against_a_hung_supervisor(Now now);
  void note_exit(const Exit& exit);

  // From the server.
  void hear_server(Now now);
  void on_registered(RegisterDone& done, Now now);
  void on_arrived(v1::ServerMessage& message, Now now);
  void on_ack(const v1::ServerAck& ack);
  void after_logs_acked(ExecutionId execution);
  void beat_every(Duration time);  // as the server wishes while somebody watches; 0: as it said at first

  // From jobs.
  void open_job_socket();
  void hear_jobs(MonoTime now);
  absl::Status on_report(ExecutionId execution, const ReportLine& report);
  std::map<std::string, std::string> socket_environment(ExecutionId execution) const;
  MonoTime next_report_due(MonoTime earliest) const;
  void put_due_progress(Now now);
  void put_progress_of(ExecutionId execution, const ProgressLine& progress);
  void keep_outputs();  // tells the supervisor what was reported, no faster than it listens
  void answer_jobs();
  bool may_report_progress(ExecutionId execution) const;

  // Secrets. (agent_masks.cc)
  void ask_mask(ExecutionId execution);  // of the secrets that it was given
  void hear_masks();
  bool holds_secret(ExecutionId execution, const std::string& text) const;
  void mask_outputs(ExecutionId execution, RunFacts& facts) const;

  // What the Session wants.
  void act(Connect&, Now now);
  void act(SendHello& hello, Now now);
  void act(SendStopping&, Now now);
  void act(SendHeartbeat& beat, Now now);
  void act(SendStarted& started, Now now);
  void act(SendResult& result, Now now);
  void act(StartExecution& start, Now now);
  void act(KillExecution& kill, Now now);
  void act(ExtendLease& lease, Now now);
  void act(ForgetExecution& forget, Now now);
  void act(Leave& leave, Now now);
  void order_start(protocol::Start start);

  // Artifacts: fetched before the supervisor hears of an execution, sent before the Session hears of its end.
  // (agent_artifacts.cc)
  bool stage(protocol::Start& start, const RunOrder& order, Keepsake keepsake);  // false: it has none
  bool hold_back(const Exit& exit);                                              // true: its outputs are sent first
  void recall_end(Held& held);  // of an execution that an earlier agent looked after
  void hear_porter(Now now);
  void inputs_are_there(ExecutionId execution, const absl::Status& result, Now now);
  void outputs_are_sent(ExecutionId execution, const absl::Status& result);
  void begin_sending();  // of those that wait for the server
  bool end_staged(ExecutionId execution, KillReason why, Now now);
  void end_staged_without_lease(Now now);
  void end_preparing(Now now);  // the supervisor stops
  void remove_leftover_folders();
  std::string stage_of(ExecutionId execution) const;

  const Clock& clock_;
  Channel supervisor_;
  std::shared_ptr<LinkInbox> inbox_;
  ServerLink link_;
  InputLink inputs_;
  Session session_;
  LogPump pump_;
  LoadMeter load_;
  UsageCache usage_;
  AgentFigures figures_;
  std::optional<MetricsDoor> metrics_;  // none: off, or its address is taken
  Duration registered_beat_{0}, registered_lease_{0}, watched_beat_{0};
  State state_ = State::Running;

  std::optional<protocol::Attach> attach_;  // what the supervisor told at the beginning
  std::string session_id_;
  bool session_refused_ = false;  // the next registration uses the token
  bool turned_away_ = false;
  size_t next_server_ = 0;
  Fd epoll_, output_ready_, room_made_;
  std::map<uint64_t, RingMemory> rings_;
  std::map<ExecutionId, Keepsake> kept_;  // of those that have one
  std::optional<JobSocket> job_socket_;   // none: there is no place for one
  bool jobs_speak_ = false;
  ProgressBoard progress_;
  std::deque<ExecutionId> unkept_;  // what they reported is not with the supervisor yet; each is there once
  MaskBuilder mask_builder_;
  std::map<ExecutionId, std::shared_ptr<const Mask>> masks_;  // of those with secrets, once they are made
  std::string program_;                                       // the file of this program, for jobs
  std::map<ExecutionId, std::string> traces_;                 // of those that this agent started, for its journal

  // An execution whose artifacts are on their way. The Session holds it as one that has not started, or has not ended.
  struct Staged {
    enum class Phase : uint8_t { Preparing, Waiting, Sending };  // Waiting: for the server, to begin to send
    Phase phase = Phase::Preparing;
    protocol::Start start;  // while preparing
    Exit exit;              // how the program ended, afterwards
  };
  std::map<ExecutionId, Staged> staged_;
  Porter porter_;

  v1::WorkerMessage outgoing_;  // waits for the stream
  bool has_outgoing_ = false;
  Pace pace_;  // of executions that end
  const size_t cores_ = std::max(1u, std::thread::hardware_concurrency());
  MonoTime last_write_{0};
  MonoTime lease_until_{0};
  uint64_t pings_ = 0, pongs_ = 0;  // sent with heartbeats, and the newest that was answered
  uint64_t killed_at_ping_ = 0;
  uint64_t dropped_lines_ = 0;  // of all executions, as the supervisor said last
  MonoTime ping_sent_{0};
};

}  // namespace hodei::worker
