// One turn of the server: take commands, decide them, commit once, and only then let anything out. No thread and no
// wait here, so that the simulator runs exactly this.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/core/engine.h"
#include "src/server/heartbeats.h"
#include "src/store/store.h"

namespace hodei::server {

using ReplyTo = std::function<void(absl::StatusOr<core::Reply>)>;

struct Waiting {
  core::Command command;
  ReplyTo reply;  // may be empty
  core::EnvelopePtr envelope = nullptr;
};

// Where decisions leave the loop. Called on the loop's thread; must not block.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // The batch is durable: its writes (for caches) and its effects, in order.
  virtual void carry_out(const core::Turn& turn, store::Epoch epoch) = 0;
  // Memory was dropped and has been loaded again: every open stream must start over with a hello. While the store is
  // away streams stay open, and heartbeats are acknowledged on their own path.
  virtual void forget_streams(const std::string& why) = 0;
};

class LoopCore {
 public:
  // A turn decides no further command when it has taken so long; the rest is for the next one.
  static constexpr Duration kTurnBudget = 100ms;

  LoopCore(store::Store& store, const Clock& clock, Outlet& outlet, Heartbeats& heartbeats, core::EngineConfig config);

  // Before take_over(). Without it, stored things grow old by the wall clock at the start.
  void set_retention_clock(const Clock* clock) { retention_clock_ = clock; }

  // Takes over the store and loads. Must succeed once before the first turn.
  absl::Status take_over();

  // Answers with the commands that found no time, in order; they must come first in the next turn.
  std::vector<Waiting> turn(std::vector<Waiting> commands);

  // From any thread: from now on nothing happens because time passes. A server that stops has closed its streams, so
  // nobody's silence may count.
  void stop_time() { time_stands_ = true; }

  // When turn() wants to be called at the latest.
  MonoTime next_wakeup() const;

  bool ready() const { return engine_ != nullptr; }
  bool deposed() const { return deposed_; }  // another server has the store: end
  const absl::Status& trouble() const { return trouble_; }
  const core::Engine* engine() const { return engine_.get(); }
  store::Epoch epoch() const { return epoch_; }
  uint64_t commits() const { return commits_; }

 private:
  void note_stall(Now now, core::Turn& turn);
  bool recover(Now now);
  void collect_heartbeats(Now now, core::Turn& turn);
  std::vector<Waiting> decide(std::vector<Waiting>& commands, std::vector<absl::StatusOr<core::Reply>>& replies,
                              Now now, core::Turn& turn);
  void revoke_streams(const core::Turn& turn);
  void commit_failed(const absl::Status& why, std::vector<Waiting>& commands);
  void remember_stops(const core::Turn& turn);
  void remember_stops(const std::vector<Waiting>& commands);

  store::Store& store_;
  const Clock& clock_;
  Outlet& outlet_;
  Heartbeats& heartbeats_;
  core::EngineConfig config_;
  const Clock* retention_clock_ = nullptr;
  std::unique_ptr<core::Engine> engine_;
  store::Epoch epoch_{};
  uint64_t batch_ = 0;
  uint64_t commits_ = 0;
  bool deposed_ = false;
  // Workers that said that they stop while that could not be stored, and the incarnations that did. They may be gone
  // when the store is back. At most one for each worker that is known.
  std::map<WorkerId, std::string> unstored_stops_;
  absl::Status trouble_;
  MonoTime expected_ = kNever;  // when the next turn was due
  Duration last_turn_{0};
  MonoTime retry_load_at_{0};
  std::atomic<bool> time_stands_ = false;
};

}  // namespace hodei::server
