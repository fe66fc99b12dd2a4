// The loop's thread: collects commands, wakes for them or for what is due, and turns.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "src/server/gathering.h"
#include "src/server/key_horizon.h"
#include "src/server/loop_core.h"

namespace hodei::server {

// How the loop is doing, for whoever asks.
struct LoopHealth {
  bool loaded = false;
  bool deposed = false;
  absl::Status trouble;  // OK: the last commit worked
  uint64_t commits = 0;
  uint64_t commands = 0;  // decided, or refused for want of a store
  store::Epoch epoch{};
  Duration slowest_turn{0};  // of the last minute or so
};

class Loop {
 public:
  // Commands that wait for a turn. A client beyond that is told to come back; workers never are.
  static constexpr size_t kMaxWaiting = 100'000;
  // The same for the memory of their jobs.
  static constexpr size_t kMaxWaitingBytes = size_t{512} << 20;
  // Work taken into one batch: a command is one unit, and a batch of jobs has one for each job. What finds no room is
  // the next batch; one command is never split, because its jobs are accepted all or none.
  static constexpr size_t kMaxPerTurn = 4'096;

  Loop(LoopCore& core, const Clock& clock) : core_(core), clock_(clock) {}
  ~Loop() { stop(); }

  void start();
  void stop();  // answers what still waits with UNAVAILABLE, and resigns

  // From any thread. `reply` is called on the loop's thread and must not block.
  void post(core::Command command, ReplyTo reply, core::EnvelopePtr envelope = nullptr);
  // For clients: RESOURCE_EXHAUSTED at once when too many wait.
  void post_bounded(core::Command command, ReplyTo reply, core::EnvelopePtr envelope = nullptr);

  LoopHealth health();
  KeyHorizon key_horizon();

 private:
  void run();
  void note_health(size_t commands, Duration turn);  // with the mutex held
  void add(Waiting waiting, bool is_bounded);
  absl::Status check_room(size_t bytes) const;  // with the mutex held
  std::vector<Waiting> take();                  // with the mutex held
  void put_back(std::vector<Waiting> left);     // with the mutex held

  LoopCore& core_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> inbox_;
  size_t waiting_bytes_ = 0;
  bool stopping_ = true;
  LoopHealth health_;
  KeyHorizon key_horizon_;
  MonoTime forget_slowest_at_{0};
  Gathering gathering_;  // the loop's thread alone uses it
  std::thread thread_;
};

}  // namespace hodei::server
