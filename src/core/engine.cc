#include "src/core/engine.h"

#include <variant>

#include "src/core/routing.h"

namespace hodei::core {
namespace {

// Specs, executions that others have followed, finished jobs and the audit trail live in the store. Every other write
// must be folded.
using StoredOnly = TypeList<PutSpec, PutExecution, DropExecutions, EraseJob, ExpireAudit>;

template <class Module>
concept Resumes = requires(Module& module, Turn& turn) {
  module.resume(turn);
};

template <class Module>
concept HasTimers = requires(Module& module, const Timer& timer, Turn& turn) {
  module.due(timer, turn);
};

template <class Module>
concept HasState = requires(const Module& module) {
  module.digest();
};

}  // namespace

void Engine::begin(const Envelope& envelope, Now now, Turn& turn) {
  const WallTime steady = loaded_.wall + (now.mono - loaded_.mono);
  turn.begin({.now = now, .steady = steady, .envelope = &envelope, .memory = this, .timers = &timers_});
}

void Engine::restored(Now now, std::optional<WallTime> steady) {
  loaded_ = {steady.value_or(now.wall), now.mono};
  Turn turn;
  begin(kOwnAct, now, turn);
  const auto resume = [&turn]<class M>(M& module) {
    if constexpr (Resumes<M>) module.resume(turn);
  };
  modules_.with_all([&](auto&... module) { (resume(module), ...); });
  turn.wake_at(now.mono + config_.sweep, {.kind = TimerKind::Sweep});
}

Answer Engine::decide(const Command& command, const Envelope& envelope, Now now, Turn& turn) {
  begin(envelope, now, turn);
  modules_.built_on.of<Access>().note_principal(turn);
  Answer answer = std::visit([&](const auto& c) { return route(c, turn); }, command);
  modules_.placement.placer.settle(turn);
  modules_.provisioning.settle(turn);
  return answer;
}

template <class C>
Answer Engine::route(const C& command, Turn& turn) {
  return modules_.with_all([&](auto&... module) { return decide_by(command, turn, module...); });
}

Answer Engine::route(const Question& question, Turn& turn) {
  return std::visit([&](const auto& q) { return route(q, turn); }, question);
}

Answer Engine::route(const Tick&, Turn& turn) {
  timers_.follow_wall_clock(turn.now());
  const auto handle = [&turn]<class M>(M& module, const Timer& timer) {
    if constexpr (HasTimers<M>) module.due(timer, turn);
  };
  for (size_t kind = 0; kind < kTimerKinds; ++kind) {
    for (size_t n = 0; n < Timers::kMaxDuePerTurn; ++n) {
      const std::optional<Timer> timer = timers_.take_due(static_cast<TimerKind>(kind), turn.mono());
      if (!timer) break;
      if (timer->kind == TimerKind::Sweep) turn.wake_at(turn.mono() + config_.sweep, *timer);
      modules_.with_all([&](auto&... module) { (handle(module, *timer), ...); });
    }
  }
  return Done{};
}

void Engine::fold(const Write& write) {
  std::visit(
      [this]<class W>(const W& w) {
        modules_.with_all([&]<class... M>(M&... module) {
          static_assert(is_one_of<W, StoredOnly> != FoldedBy<W, M...>, "a write is folded, or lives in the store only");
          fold_into(w, module...);
        });
      },
      write);
}

MonoTime Engine::next_wakeup() const { return modules_.provisioning.has_resumed() ? timers_.next() : MonoTime{0}; }

uint64_t Engine::digest() const {
  // Parts are added up, so that the order in which they are visited does not matter.
  const auto digest_of = []<class M>(const M& module) -> uint64_t {
    if constexpr (HasState<M>) return module.digest();
    return 0;
  };
  return modules_.with_all([&](const auto&... module) { return (digest_of(module) + ... + 0); });
}

}  // namespace hodei::core
