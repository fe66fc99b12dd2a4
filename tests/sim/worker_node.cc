#include "tests/sim/worker_node.h"

#include "src/base/status.h"

namespace hodei::sim {

WorkerNode::WorkerNode(World& world, Checker& checker, Network& network, ServerNode& server, std::string id,
                       uint32_t slots)
    : world_(world), checker_(checker), network_(network), server_(server), id_(id), machine_(id), slots_(slots) {}

WorkerNode::WorkerNode(const WorkerNode& first, std::string machine, bool copies_state)
    : WorkerNode(first.world_, first.checker_, first.network_, first.server_, first.id_.str(), first.slots_) {
  machine_ = std::move(machine);
  if (!copies_state) return;
  registered_ = first.registered_;
  last_words_ = first.last_words_;
}

void WorkerNode::when_awake(std::function<void()> what) {
  if (world_.elapsed() >= frozen_until_) return what();
  world_.after(frozen_until_ - world_.elapsed(), std::move(what));
}

void WorkerNode::is_made(Hash128 otp, std::string provider) {
  otp_ = otp;
  has_otp_ = true;
  provider_ = std::move(provider);
}

void WorkerNode::destroy() {
  destroyed_ = true;
  ++supervisor_life_;
  ++agent_life_;
  checker_.supervisor_died(machine_);
  kill_processes();
  keeper_ = nullptr;
  session_ = nullptr;
  if (stream_ != 0) network_.abandon(stream_);
  stream_ = 0;
}

void WorkerNode::kill_processes() {
  for (const auto& [execution, process] : processes_) checker_.processes().ended(execution, 0, 9);
  processes_.clear();
}

void WorkerNode::boot() {
  if (destroyed_) return;
  kill_processes();  // the successor's first act: whatever an earlier supervisor left
  keeper_ = std::make_unique<worker::Keeper>(worker::KeeperConfig{});
  ++incarnation_;
  stopping_ = false;
  stopped_before_.clear();
  if (last_words_) {
    stopped_before_ = last_words_->stopped;
    for (const worker::Exit& exit : last_words_->exits) keeper_->adopt(exit);
  }
  world_.trace(machine_, " boots, incarnation ", incarnation_);
  start_agent();
}

void WorkerNode::start_agent() {
  refused_.clear();
  session_ = std::make_unique<worker::Session>(worker::SessionConfig{}, world_.random());
  session_->attached(keeper_->inventory(), world_.now());
  if (stopping_) session_->stop_gracefully(world_.now());  // its supervisor tells it so
  act();
}

void WorkerNode::kill_agent(Duration down_for) {
  if (session_ == nullptr) return;
  world_.trace(machine_, " agent killed");
  ++agent_life_;
  session_ = nullptr;
  network_.abandon(stream_);
  stream_ = 0;
  world_.after(down_for, [this, life = supervisor_life_, agent = agent_life_] {
    if (life == supervisor_life_ && agent == agent_life_ && keeper_ != nullptr)
      when_awake([this, agent] {
        if (agent == agent_life_ && keeper_ != nullptr && session_ == nullptr) start_agent();
      });
  });
}

void WorkerNode::kill_supervisor(Duration down_for) {
  // Nobody watches over processes whose supervisor is dead, so one that died in its sleep would leave them running when
  // they are thawed: the real ones are found by their successor, a moment later (docs/semantics.md allows a second).
  if (keeper_ == nullptr || world_.elapsed() < frozen_until_) return;
  world_.trace(machine_, " supervisor killed");
  checker_.supervisor_died(machine_);
  supervisor_is_gone(down_for);
}

void WorkerNode::supervisor_is_gone(Duration down_for) {
  ++supervisor_life_;
  ++agent_life_;
  keeper_ = nullptr;
  session_ = nullptr;
  network_.abandon(stream_);
  stream_ = 0;
  world_.after(down_for, [this, life = supervisor_life_] {
    when_awake([this, life] {
      if (life == supervisor_life_) boot();
    });
  });
}

void WorkerNode::freeze(Duration length) {
  if (keeper_ == nullptr || world_.elapsed() < frozen_until_) return;
  world_.trace(machine_, " freezes for ", length.count() / 1000, " ms");
  frozen_until_ = world_.elapsed() + length;
  for (const auto& [execution, process] : processes_) checker_.processes().frozen(execution, true);
  world_.after(length, [this, life = supervisor_life_] {
    // The first thing the supervisor does is look at its lease: what outlived it dies before anything else happens.
    if (life == supervisor_life_ && keeper_ != nullptr) {
      keeper_->tick(world_.now());
      act_keeper();
    }
    for (const auto& [execution, process] : processes_) {
      if (!process.dying) checker_.processes().frozen(execution, false);
    }
  });
}

void WorkerNode::cut(Towards direction, Duration length) {
  world_.trace(machine_, direction == Towards::Server ? " is not heard for " : " hears nothing for ",
               length.count() / 1000, " ms");
  network_.cut(machine_, direction, length);
}

void WorkerNode::stop(Duration grace) {
  if (session_ == nullptr || world_.elapsed() < frozen_until_ || session_->stopping()) return;
  world_.trace(machine_, " is told to stop within ", grace.count() / 1000, " ms");
  stopping_ = true;
  checker_.lives().told_to_stop(id_);
  session_->stop_gracefully(world_.now());
  keeper_->stop_gracefully(grace, world_.now());
  act();
  // It does not wait for ever for a server that acknowledges what it says.
  world_.after(grace + world_.between(5s, 15s), [this, life = supervisor_life_] {
    when_awake([this, life] {
      if (life == supervisor_life_) leave_if_nothing_runs();
    });
  });
}

void WorkerNode::leave_if_nothing_runs() {
  if (processes_.empty()) {
    leave_last_words();
    return supervisor_is_gone(world_.chance(0.2) ? world_.between(30s, 90s) : world_.between(100ms, 10s));
  }
  world_.after(1s, [this, life = supervisor_life_] {
    when_awake([this, life] {
      if (life == supervisor_life_) leave_if_nothing_runs();
    });
  });
}

void WorkerNode::leave_last_words() {
  LastWords words{stopped_before_, {}};
  words.stopped.push_back(incarnation());
  std::set<ExecutionId> executions;
  for (const worker::Held& held : keeper_->inventory()) {
    if (!held.ended) continue;
    words.exits.push_back(held.exit);
    executions.insert(held.execution);
  }
  world_.trace(machine_, " has stopped, with ", executions.size(), " ends to tell");
  last_words_ = std::move(words);
  checker_.supervisor_stopped(machine_, std::move(executions));
  if (world_.chance(0.2)) ++reboots_;
}

void WorkerNode::flap(int times) {
  if (times == 0) return;
  if (stream_ != 0) network_.break_stream(stream_);
  world_.after(world_.between(10ms, 600ms), [this, times] { flap(times - 1); });
}

void WorkerNode::refuse(Duration length) {
  world_.trace(machine_, " refuses all orders for ", length.count() / 1000, " ms");
  refuses_until_ = world_.elapsed() + length;
}

void WorkerNode::lie() {
  const std::optional<ExecutionId> other = checker_.lives().active_elsewhere(id_, world_.random());
  if (!other || stream_ == 0) return;
  world_.trace(machine_, " lies about ", to_string(*other));
  core::Report report{id_, world_.chance(0.5) ? stream_ : 0, {}, {}, {}};
  core::ResultReport r;
  r.execution = *other;
  r.outcome = static_cast<core::Outcome>(1 + world_.below(5));
  r.exit_code = 77;
  r.started = world_.now().wall;
  r.ended = r.started;
  report.results.push_back(std::move(r));
  network_.to_server(stream_, [this, report] { server_.deliver(report); });
}

void WorkerNode::act() {
  act_session();
  plan_tick();
}

void WorkerNode::act_session() {
  // Keeper and Session feed each other until both are quiet.
  for (bool more = true; more;) {
    more = false;
    if (session_ != nullptr) {
      for (const worker::SessionAction& a : session_->take_actions()) {
        carry_out(a);
        more = true;
        if (session_ == nullptr) break;
      }
    }
    if (keeper_ != nullptr) {
      for (const worker::KeeperAction& a : keeper_->take_actions()) {
        carry_out(a);
        more = true;
      }
    }
  }
}

void WorkerNode::act_keeper() { act(); }

void WorkerNode::plan_tick() {
  MonoTime at = kNever;
  if (session_ != nullptr) at = std::min(at, session_->next_deadline());
  if (keeper_ != nullptr) at = std::min(at, keeper_->next_deadline());
  if (at == kNever) return;
  const uint64_t plan = ++tick_plan_;
  world_.after(std::max(Duration(0), at - world_.now().mono), [this, plan] {
    if (plan != tick_plan_) return;
    when_awake([this] {
      if (keeper_ != nullptr) keeper_->tick(world_.now());
      act_session();
      if (session_ != nullptr) session_->tick(world_.now());
      act();
    });
  });
}

}  // namespace hodei::sim
