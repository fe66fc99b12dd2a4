// What the agent holds for the server: executions, and results until they are acknowledged. A part of the Session,
// which knows when there is a stream. Pure.
//
// Promises:
//  - a result is sent after all output of its execution, again on every new stream, until the server has acknowledged
//    it; only then, and when the log is durable too, the supervisor is told to forget the execution.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

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
// Nothing is left to do: end. For good: drained at the server's request, or turned away; else it was stopped, keeps its
// session and may come back with it.
struct Leave {
  std::string reason;
  bool for_good = true;
};
using SessionAction = std::variant<Connect, SendHello, SendStopping, SendHeartbeat, SendStarted, SendResult,
                                   StartExecution, KillExecution, ExtendLease, ForgetExecution, Leave>;

class Outbox {
 public:
  // From the supervisor.
  void started(ExecutionId execution, WallTime at, int64_t pid);
  void exited(const Exit& exit);

  // From the log pump: all output was handed to the current stream; all output is durable on the server.
  void log_flushed(ExecutionId execution);
  void log_durable(ExecutionId execution);

  // From the server.
  void cancel(ExecutionId execution, bool timed_out, Duration grace);
  void results_acked(const std::vector<ExecutionId>& executions);

  bool online() const { return stream_.phase == Phase::Online; }
  bool holds(ExecutionId execution) const { return held_.contains(execution); }
  bool has_started(ExecutionId execution) const;
  bool has_exited(ExecutionId execution) const;
  size_t held_count() const { return held_.size(); }
  size_t unfinished_count() const { return held_.size() - exited_; }

 protected:
  enum class Phase : uint8_t { Waiting, Connecting, Greeting, Online, Leaving };
  struct Stream {
    Phase phase = Phase::Waiting;
    std::vector<SessionAction> actions;  // that have not been taken

    bool is_open() const { return phase == Phase::Greeting || phase == Phase::Online; }
  };

  Outbox() = default;
  ~Outbox() = default;
  void want(SessionAction action) { stream_.actions.push_back(std::move(action)); }
  void adopt(const Held& held);                   // of an earlier agent
  void add(ExecutionId execution, bool refused);  // refused: it was ordered and will not be started
  void forget_stream();
  std::vector<Held> inventory() const;
  std::vector<ExecutionId> active() const;  // for heartbeats
  // On a new stream: everything held is sent again. `unknown` ones are not current for the server.
  void tell_again(const std::vector<ExecutionId>& unknown);
  virtual void leave_if_empty() = 0;  // an execution is not held any more

  Stream stream_;

 private:
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

  void send_result_if_ready(Entry& entry);
  void forget_if_done(ExecutionId execution);

  std::map<ExecutionId, Entry> held_;
  size_t exited_ = 0;  // of those held
};

}  // namespace hodei::worker
