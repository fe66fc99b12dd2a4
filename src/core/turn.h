// What a decision is made with: the time, the envelope of its command, and where its results go. A turn collects the
// results of several decisions, which are committed together.
#pragma once

#include <utility>
#include <vector>

#include "src/base/time.h"
#include "src/core/effects.h"
#include "src/core/envelope.h"
#include "src/core/timers.h"
#include "src/core/writes.h"

namespace hodei::core {

// The state in memory. It changes by nothing but writes.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void fold(const Write& write) = 0;
};

class Turn {
 public:
  // What the next decision of the turn is made with.
  struct Frame {
    Now now;
    WallTime steady;  // see steady()
    const Envelope* envelope = &kOwnAct;
    Memory* memory = nullptr;
    Timers* timers = nullptr;
  };
  void begin(const Frame& frame) { frame_ = frame; }

  Now now() const { return frame_.now; }
  WallTime wall() const { return frame_.now.wall; }
  MonoTime mono() const { return frame_.now.mono; }
  // The wall-clock time at the start plus what the boot-time clock has counted since. Stored things expire by this
  // time.
  WallTime steady() const { return frame_.steady; }
  const Envelope& envelope() const { return *frame_.envelope; }

  // Changes the state: in memory now, in the store when the turn is committed.
  template <class W>
  void write(W&& change) {
    writes.emplace_back(std::forward<W>(change));
    frame_.memory->fold(writes.back());
  }
  // Has something done once the turn is committed.
  template <class E>
  void tell(E&& effect) {
    effects.emplace_back(std::forward<E>(effect));
  }
  // Has the module of the timer called at this time. A timer about the same thing is replaced.
  void wake_at(MonoTime at, const Timer& timer) { frame_.timers->set(timer, at); }
  void wake_at(WallTime at, const Timer& timer) { frame_.timers->set(timer, at, frame_.now); }
  void cancel(const Timer& timer) { frame_.timers->cancel(timer); }

  Writes writes;
  std::vector<Effect> effects;

 private:
  Frame frame_;
};

}  // namespace hodei::core
