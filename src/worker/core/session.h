// The rules of the agent: registration, stream, lease and outbox. Pure, like the Keeper.
//
// Promises, besides those of the Outbox:
//  - Hello lists every execution that is held; what it does not list will never be started (orders of an older stream
//    are dropped by the caller before stream_opened is called);
//  - after a request to stop, no order is started, and every server that sends one gets to know it;
//  - the lease runs from the *send* time of the newest acknowledged heartbeat (Hello counts as one).
#pragma once

#include <string>
#include <vector>

#include "src/base/time.h"
#include "src/worker/core/execution.h"
#include "src/worker/core/outbox.h"

namespace hodei::worker {

struct SessionConfig {
  Duration heartbeat = 10s;
  Duration lease = 30s;
  Duration reconnect_min = 100ms;  // first wait after a lost connection; doubles, with jitter, up to the maximum
  Duration reconnect_max = 5s;
};

// How long to wait before the next connection. Full jitter: thousands of workers that lose one server come back spread
// over the whole interval.
class Backoff {
 public:
  explicit Backoff(uint64_t seed) : random_(seed) {}
  Duration next(Duration least, Duration most);
  void reset() { failures_ = 0; }

 private:
  uint64_t random_;
  int failures_ = 0;
};

class Session : public Outbox {
 public:
  // `seed` feeds the jitter only.
  Session(SessionConfig config, uint64_t seed) : config_(config), backoff_(seed) {}
  virtual ~Session() = default;

  // What the server wants, from the answer to Register; holds from the next beat on.
  void set_timing(Duration heartbeat, Duration lease);
  // The next beat comes no later than the timing says from now on.
  void beat_soon(Now now);

  // Comes first, with what the supervisor holds from earlier agents.
  void attached(const std::vector<Held>& inventory, Now now);

  // From the connection.
  void stream_opened(Now now);                  // registered and connected: say hello
  void stream_closed(Now now);                  // or could not be opened: wait, then Connect again
  void turned_away(const std::string& reason);  // UNAUTHENTICATED, or a protocol that is not spoken
  // Everything held is sent again. `unknown` ones are not current for the server: killed and never reported.
  void welcomed(const std::vector<ExecutionId>& unknown, Now now);
  void ordered(const RunOrder& order);
  void heartbeat_acked(MonoTime sent);
  void drain(bool stop);
  // The worker is being stopped: says so at once and in every Hello, refuses every order that still arrives (told as
  // Interrupted, never started), and leaves when it holds nothing and the server knows. What runs is the supervisor's
  // to end: Keeper::stop_gracefully.
  void stop_gracefully(Now now);
  void stop_noted();  // the server sends no orders after this on this stream
  bool stopping() const { return parting_.stopping; }

  void tick(Now now);
  MonoTime next_deadline() const;
  std::vector<SessionAction> take_actions();

 private:
  // Whether and how it is to leave.
  struct Parting {
    bool drained = false;  // leaves when it holds nothing
    bool stopping = false;
    bool said = false;   // that it stops, on the current stream
    bool noted = false;  // by the server, on the current stream
  };

  void leave_if_empty() override;
  void say_stopping();

  SessionConfig config_;
  Backoff backoff_;
  MonoTime connect_at_ = kNever;  // set when waiting; nothing happens before `attached`
  MonoTime beat_at_ = kNever;
  MonoTime hello_sent_{0};
  MonoTime newest_acked_{0};  // send time of the newest acknowledged heartbeat
  Parting parting_;
};

}  // namespace hodei::worker
