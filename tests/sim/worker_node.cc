#include "tests/sim/worker_node.h"

#include "src/base/status.h"

namespace hodei::sim {

WorkerNode::WorkerNode(World& world, Checker& checker, Network& network, Cluster& servers, std::string id,
                       uint32_t slots)
    : world_(world), checker_(checker), network_(network), servers_(servers), id_(id), machine_(id), slots_(slots) {}

WorkerNode::WorkerNode(const WorkerNode& first, std::string machine, bool copies_state)
    : WorkerNode(first.world_, first.checker_, first.network_, first.servers_, first.id_.str(), first.slots_) {
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
  drop_agent();
  keeper_ = nullptr;
  pipes_.clear();
}

void WorkerNode::drop_agent() {
  agent_ = nullptr;
  if (stream_ != 0) network_.abandon(stream_);
  stream_ = 0;
}

void WorkerNode::kill_processes() {
  for (const auto& [execution, process] : processes_) checker_.processes().ended(execution, 0, 9);
  processes_.clear();
  ending_.clear();
}

void WorkerNode::boot() {
  if (destroyed_) return;
  kill_processes();  // the successor's first act: whatever an earlier supervisor left
  pipes_.clear();
  keeper_ = std::make_unique<worker::Keeper>(worker::KeeperConfig{});
  ++incarnation_;
  stopping_ = false;
  stopped_before_.clear();
  if (last_words_) {
    stopped_before_ = last_words_->stopped;
    for (const worker::Exit& exit : last_words_->exits) keeper_->adopt(exit);
    for (const auto& [execution, records] : last_words_->output) {
      pipes_.try_emplace(execution, world_, checker_.outputs(), execution, worker::ring_bytes_for(records))
          .first->second.refill(records);
    }
  }
  world_.trace(machine_, " boots, incarnation ", incarnation_);
  start_agent();
}

void WorkerNode::start_agent() {
  agent_ = std::make_unique<SimAgent>(
      *keeper_, world_.random(), [this](const worker::RunOrder& order) { start(order); },
      [this](ExecutionId execution) {
        checker_.outputs().forgotten(execution);
        pipes_.erase(execution);
      },
      [this] { room_was_made(); });
  worker::run::Ready ready;
  for (const worker::Held& held : keeper_->inventory()) {
    const auto pipe = pipes_.find(held.execution);
    ready.held.push_back({held, pipe == pipes_.end() ? nullptr : pipe->second.ring(), held.ended});
  }
  agent_->runner.tell(std::move(ready));
  if (stopping_) agent_->runner.tell(worker::run::StopAsked{});  // its supervisor tells it so
  act();
}

void WorkerNode::kill_agent(Duration down_for) {
  if (agent_ == nullptr) return;
  world_.trace(machine_, " agent killed");
  ++agent_life_;
  drop_agent();
  world_.after(down_for, [this, life = supervisor_life_, agent = agent_life_] {
    if (life == supervisor_life_ && agent == agent_life_ && keeper_ != nullptr)
      when_awake([this, agent] {
        if (agent == agent_life_ && keeper_ != nullptr && agent_ == nullptr) start_agent();
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
  drop_agent();
  keeper_ = nullptr;
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
      act();
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
  if (agent_ == nullptr || world_.elapsed() < frozen_until_ || agent_->session.stopping()) return;
  world_.trace(machine_, " is told to stop within ", grace.count() / 1000, " ms");
  stopping_ = true;
  checker_.lives().told_to_stop(id_);
  agent_->runner.tell(worker::run::StopAsked{});
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
  // Nobody will read the rings any more.
  for (auto& [execution, pipe] : pipes_) pipe.give_up();
  while (!ending_.empty()) end_if_drained(ending_.begin()->first);
  const uint64_t life = supervisor_life_;
  act();
  if (life != supervisor_life_) return;
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
  LastWords words{stopped_before_, {}, {}};
  size_t room = worker::kMaxLastOutput;
  words.stopped.push_back(incarnation());
  std::set<ExecutionId> executions;
  for (const worker::Held& held : keeper_->inventory()) {
    if (!held.ended) continue;
    words.exits.push_back(held.exit);
    executions.insert(held.execution);
    if (const auto pipe = pipes_.find(held.execution); pipe != pipes_.end()) {
      words.output[held.execution] =
          worker::unsent_output(*pipe->second.ring(), {}, static_cast<uint64_t>(held.exit.log_bytes), room);
    }
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
  FromWorker message;
  message.report = std::move(report);
  network_.to_server(stream_, [link = link_, message] {
    if (const auto end = link.lock()) end->arrived(message);
  });
}

void WorkerNode::act() {
  settle();
  if (agent_ != nullptr) {
    agent_->pump.look(world_.now());
    send();
  }
  plan_tick();
}

// Keeper, runner and Session feed each other until all are quiet.
void WorkerNode::settle() {
  for (bool more = true; more;) {
    more = false;
    if (keeper_ != nullptr) {
      for (const worker::KeeperAction& action : keeper_->take_actions()) {
        carry_out(action);
        more = true;
      }
    }
    hear_runner();
    if (agent_ == nullptr) continue;
    for (const worker::SessionAction& action : agent_->session.take_actions()) {
      carry_out(action);
      more = true;
      if (agent_ == nullptr) break;
    }
  }
}

void WorkerNode::hear_runner() {
  if (agent_ == nullptr) return;
  const Now now = world_.now();
  for (const worker::run::Event& event : agent_->runner.take_events()) {
    if (const auto* ready = std::get_if<worker::run::Ready>(&event)) agent_->flow.ready(*ready, now);
    if (const auto* started = std::get_if<worker::run::Started>(&event)) agent_->flow.started(*started);
    if (const auto* exited = std::get_if<worker::run::Exited>(&event)) agent_->flow.exited(*exited);
    if (const auto* ended = std::get_if<worker::run::Ended>(&event)) agent_->flow.ended(*ended);
    if (std::holds_alternative<worker::run::StopAsked>(event)) agent_->session.stop_gracefully(now);
  }
}

void WorkerNode::plan_tick() {
  MonoTime at = kNever;
  if (agent_ != nullptr) {
    at = std::min(at, agent_->session.next_deadline());
    if (agent_->session.online()) at = std::min(at, agent_->pump.next_due());
  }
  if (keeper_ != nullptr) at = std::min(at, keeper_->next_deadline());
  if (at == kNever) return;
  const uint64_t plan = ++tick_plan_;
  world_.after(std::max(Duration(0), at - world_.now().mono), [this, plan] {
    if (plan != tick_plan_) return;
    when_awake([this] {
      if (keeper_ != nullptr) keeper_->tick(world_.now());
      settle();
      if (agent_ != nullptr) agent_->session.tick(world_.now());
      act();
    });
  });
}

}  // namespace hodei::sim
