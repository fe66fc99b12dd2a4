// The engine makes every decision: decide(command, envelope, now) → writes, effects, reply. It is deterministic and has
// no I/O, no clock and no threads. The caller commits the writes, and only then carries out the effects and sends the
// replies. If the commit fails, the caller discards this engine and loads a new one.
//
// The rules are in the modules (modules.h). The engine finds the module of a command, folds writes into the memory of
// modules, and keeps time.
#pragma once

#include <cstdint>
#include <optional>

#include "src/core/answers.h"
#include "src/core/commands.h"
#include "src/core/config.h"
#include "src/core/envelope.h"
#include "src/core/modules.h"
#include "src/core/timers.h"
#include "src/core/turn.h"

namespace hodei::core {

class Engine final : private Memory {
 public:
  explicit Engine(EngineConfig config = {}) : config_(config), modules_(config_) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Loading: restore() every stored write in the store's order, then call restored() once with the current time, from
  // which silence counts. `steady` is the time by which stored things expire; by default, the wall clock's.
  void restore(const Write& write) { fold(write); }
  void restored(Now now, std::optional<WallTime> steady = std::nullopt);

  Answer decide(const Command& command, const Envelope& envelope, Now now, Turn& turn);
  // The server's own act.
  Answer decide(const Command& command, Now now, Turn& turn) { return decide(command, kOwnAct, now, turn); }

  // When a Tick is needed next if no other command arrives.
  MonoTime next_wakeup() const;

  uint64_t digest() const;
  const Modules& modules() const { return modules_; }
  const Timers& timers() const { return timers_; }
  // For modules that own jobs.
  void add_owner(OwnerModule module, JobOwner& owner) { modules_.jobs.add_owner(module, owner); }

 private:
  void begin(const Envelope& envelope, Now now, Turn& turn);
  template <class C>
  Answer route(const C& command, Turn& turn);
  Answer route(const Tick& tick, Turn& turn);
  Answer route(const Question& question, Turn& turn);
  void fold(const Write& write) override;

  const EngineConfig config_;
  Timers timers_;
  Modules modules_;
  Now loaded_{};  // the steady time and the boot time when a store was loaded
};

}  // namespace hodei::core
