// The agent's brain: its registration, its stream, its lease, its outbox. Pure, like the Keeper.
//
// Promises:
//  - Hello lists every execution that is held; what it does not list will never be started (orders of an older stream
//    are dropped by the caller before stream_opened is called);
//  - a result is sent after all output of its execution, again on every new stream, until the server has acknowledged
//    it; only then, and when the log is durable too, the supervisor is told to forget the execution;
//  - once it was told to stop, nothing that is ordered is started, and everybody who gives orders is told so;
//  - the lease runs from the *send* time of the newest acknowledged heartbeat (Hello counts as one).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

struct SessionConfig {
  Duration heartbeat = 10s;
  Duration lease = 30s;
  Duration reconnect_min = 100ms;  // first wait after a lost connection; doubles, with jitter, up to the maximum
  Duration reconnect_max = 5s;
};

// What to do, in order.
struct Connect {};  // open a channel, Register, then open the stream
struct SendHello {
  std::vector<Held> held;
  MonoTime sent;
  bool stopping = false;
};
struct SendStopping {};  // on the open stream, before any result that it causes
struct SendHeartbeat {
  MonoTime sent;
  std::vector<ExecutionId> active;
};
struct SendStarted {
  ExecutionId execution;
  WallTime at;
  int64_t pid = 0;
};
struct SendResult {
  Exit exit;
};
struct StartExecution {
  RunOrder order;
};  // to the supervisor
struct KillExecution {
  ExecutionId execution;
  KillReason why;
  Duration grace;
};
struct ExtendLease {
  MonoTime until;
};
struct ForgetExecution {
  ExecutionId execution;
};
// Nothing is left to do: end. For good: drained on the server's wish, or turned away; else it was stopped, keeps its
// session and may come back with it.
struct Leave {
  std::string reason;
  bool for_good = true;
};
using SessionAction = std::variant<Connect, SendHello, SendStopping, SendHeartbeat, SendStarted, SendResult,
                                   StartExecution, KillExecution, ExtendLease, ForgetExecution, Leave>;

class Session {
 public:
  // `seed` feeds the jitter only.
  Session(SessionConfig config, uint64_t seed) : config_(config), random_(seed) {}

  // What the server wants, from the answer to Register; holds from the next beat on.
  void set_timing(Duration heartbeat, Duration lease);
  // The next beat comes no later than the timing says from now on.
  void beat_soon(Now now);

  // From the supervisor. `attached` comes first, with what it holds from earlier agents.
  void attached(const std::vector<Held>& inventory, Now now);
  void started(ExecutionId execution, WallTime at, int64_t pid);
  void exited(const Exit& exit);

  // From the log pump: all output was handed to the current stream; all output is durable on the server.
  void log_flushed(ExecutionId execution);
  void log_durable(ExecutionId execution);

  // From the connection.
  void stream_opened(Now now);                  // registered and connected: say hello
  void stream_closed(Now now);                  // or could not be opened: wait, then Connect again
  void turned_away(const std::string& reason);  // UNAUTHENTICATED, or a protocol that is not spoken
  // Everything held is told again. `unknown` ones are not current for the server: killed and never reported.
  void welcomed(const std::vector<ExecutionId>& unknown, Now now);
  void ordered(const RunOrder& order);
  void cancel(ExecutionId execution, bool timed_out, Duration grace);
  void heartbeat_acked(MonoTime sent);
  void results_acked(const std::vector<ExecutionId>& executions);
  void drain(bool stop);
  // The worker is being stopped: says so at once and in every Hello, refuses every order that still arrives (told as
  // Interrupted, never started), and leaves when it holds nothing and the server knows. What runs is the supervisor's
  // to end: Keeper::stop_gracefully.
  void stop_gracefully(Now now);
  void stop_noted();  // the server sends no orders after this on this stream
  bool stopping() const { return stopping_; }

  void tick(Now now);
  MonoTime next_deadline() const;
  std::vector<SessionAction> take_actions();

  bool online() const { return phase_ == Phase::Online; }
  bool holds(ExecutionId execution) const { return held_.contains(execution); }
  bool has_started(ExecutionId execution) const;
  bool has_exited(ExecutionId execution) const;
  size_t held_count() const { return held_.size(); }
  size_t unfinished_count() const { return held_.size() - exited_; }

 private:
  enum class Phase : uint8_t { Waiting, Connecting, Greeting, Online, Leaving };
  struct Entry {
    bool started = false;
    WallTime started_at;
    int64_t pid = 0;
    std::optional<Exit> exit;
    bool log_flushed = false;  // on the current stream
    bool log_durable = false;
    bool result_sent = false;  // on the current stream
    bool result_acked = false;
    bool refused = false;   // never handed to the supervisor: it has no output
    bool unwanted = false;  // the server does not know it: kill, report nothing, forget
  };

  bool on_stream() const { return phase_ == Phase::Greeting || phase_ == Phase::Online; }
  void forget_stream();
  void send_result_if_ready(Entry& entry);
  void forget_if_done(ExecutionId execution);
  void leave_if_empty();
  void say_stopping();
  Duration next_wait();

  SessionConfig config_;
  uint64_t random_;
  Phase phase_ = Phase::Waiting;
  std::map<ExecutionId, Entry> held_;
  size_t exited_ = 0;             // of those held
  MonoTime connect_at_ = kNever;  // set when waiting; nothing happens before `attached`
  MonoTime beat_at_ = kNever;
  MonoTime hello_sent_{0};
  MonoTime newest_acked_{0};  // send time of the newest acknowledged heartbeat
  int failures_ = 0;
  bool leave_when_empty_ = false;
  bool stopping_ = false;
  bool said_stopping_ = false;  // on the current stream
  bool stop_noted_ = false;     // by the server, on the current stream
  std::vector<SessionAction> actions_;
};

}  // namespace hodei::worker
