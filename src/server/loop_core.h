// One turn of the server: take commands, decide them, commit once, and only then let anything out. No thread and no
// wait here, so that the simulator runs exactly this.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/core/engine.h"
#include "src/server/heartbeats.h"
#include "src/server/pending_stops.h"
#include "src/server/stall_meter.h"
#include "src/server/tenure.h"
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

  LoopCore(Tenure& tenure, const Clock& clock, Outlet& outlet, Heartbeats& heartbeats)
      : tenure_(tenure), clock_(clock), outlet_(outlet), heartbeats_(heartbeats) {}

  // Campaigns for the store and loads. Must succeed once before the first turn.
  absl::Status take_over();

  // Answers with the commands that found no time, in order; they must come first in the next turn.
  std::vector<Waiting> turn(std::vector<Waiting> commands);

  // From any thread: from now on nothing happens because time passes. A server that stops has closed its streams, so
  // nobody's silence may count.
  void stop_time() { time_stands_ = true; }

  // After the last turn: this server leads no more.
  void resign();

  // When turn() wants to be called at the latest.
  MonoTime next_wakeup() const;

  bool ready() const { return engine_ != nullptr; }
  bool deposed() const { return tenure_.term().is_lost(); }  // another server has the store: end
  const absl::Status& trouble() const { return trouble_; }
  const core::Engine* engine() const { return engine_.get(); }
  const Tenure& tenure() const { return tenure_; }

 private:
  absl::Status load();
  // Keeps the term, and loads memory under it if it was dropped. False: there is none.
  bool has_memory(Now now);
  void catch_up(Now now, core::Turn& turn);
  std::vector<Waiting> decide(std::vector<Waiting>& commands, std::vector<absl::StatusOr<core::Reply>>& replies,
                              Now now, core::Turn& turn);
  void drop_memory(const absl::Status& why);

  Tenure& tenure_;
  const Clock& clock_;
  Outlet& outlet_;
  Heartbeats& heartbeats_;
  std::unique_ptr<core::Engine> engine_;  // null: it must be loaded, or this server is deposed
  PendingStops stops_;
  StallMeter stalls_;
  absl::Status trouble_;
  MonoTime retry_load_at_{0};
  std::atomic<bool> time_stands_ = false;
};

}  // namespace hodei::server
