// The processes of a worker in the simulation: pretended, each with a life that follows from its number.
#include "tests/sim/worker_node.h"

namespace hodei::sim {

Behaviour WorkerNode::behaviour_of(ExecutionId execution) const {
  const uint64_t r = mix64(number(execution.job) * 977 + execution.number);
  Behaviour how;
  how.runs = r % 10 < 7 ? Duration(1'000 + static_cast<int64_t>(r >> 8) % 400'000)
                        : Duration(static_cast<int64_t>((r >> 8) % 60'000'000));
  how.exit_code = (r >> 40) % 5 == 0 ? 1 + static_cast<int>((r >> 52) % 3) : 0;
  how.ignores_term = (r >> 44) % 4 == 0;
  const uint64_t p = mix64(r);
  how.prints = p % 3 == 0 ? 0 : 1 + static_cast<int>((p >> 8) % 6);
  how.print_bytes = 1 + (p >> 16) % 120;
  if ((p >> 24) % 25 == 0) {  // more than its ring holds
    how.prints = 20;
    how.print_bytes = 400;
  }
  how.over_limit = (p >> 32) % 10 == 0;
  return how;
}

void WorkerNode::start(const worker::RunOrder& order) {
  if (world_.elapsed() < refuses_until_) {
    // As the supervisor does that already holds too many: the word is all there is.
    worker::Exit full{.execution = order.execution, .outcome = worker::Outcome::Lost, .failure = "infrastructure"};
    full.message = "not now";
    agent_->runner.tell(worker::run::Ended{full});
    return;
  }
  const Traits traits = decode_traits(order.spec);
  orders_[order.execution] = traits;
  keeper_->start({order.execution, traits.timeout, traits.grace}, world_.now());
}

void WorkerNode::carry_out(const worker::KeeperAction& action) {
  std::visit(
      [&](const auto& a) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, worker::Spawn>) {
          spawn(a.execution);
        } else if constexpr (std::is_same_v<A, worker::SignalTree>) {
          const auto it = processes_.find(a.execution);
          if (it == processes_.end() || (!a.kill && it->second.how.ignores_term)) return;
          it->second.dying = true;
          const ExecutionId execution = a.execution;
          const int signal = a.kill ? 9 : 15;
          const bool frozen = world_.elapsed() < frozen_until_;
          world_.after(a.kill || frozen ? Duration(0) : world_.between(0us, 50ms),
                       [this, execution, signal] { end_process(execution, 0, signal); });
        } else if constexpr (std::is_same_v<A, worker::TellStarted>) {
          if (agent_ == nullptr) return;
          const auto pipe = pipes_.find(a.execution);
          agent_->runner.tell(
              worker::run::Started{a.execution, a.at, a.pid, pipe == pipes_.end() ? nullptr : pipe->second.ring()});
        } else if constexpr (std::is_same_v<A, worker::TellExited>) {
          if (a.exit.outcome == worker::Outcome::Interrupted && a.exit.started.is_set()) {
            checker_.lives().interrupted(a.exit.execution, machine_);
          }
          if (agent_ == nullptr) return;
          if (a.exit.started.is_set()) agent_->runner.tell(worker::run::Exited{a.exit});
          agent_->runner.tell(worker::run::Ended{a.exit});
        }
      },
      action);
}

void WorkerNode::spawn(ExecutionId execution) {
  const Behaviour how = behaviour_of(execution);
  if (mix64(number(execution.job) + 31 * execution.number) % 50 == 0) {
    worker::Exit failed;
    failed.outcome = worker::Outcome::Failed;
    failed.exit_code = 127;
    failed.failure = "command_not_found";
    checker_.processes().failed_to_start(execution, machine_);
    keeper_->spawn_failed(execution, failed, world_.now());
    return;
  }
  world_.trace(machine_, " starts ", to_string(execution));
  processes_[execution] = {how, false};
  const Traits traits = orders_.at(execution);
  checker_.started(execution, machine_, traits.timeout);
  pipes_.try_emplace(execution, world_, checker_.outputs(), execution);
  if (how.prints > 0) {
    world_.after(how.runs / (how.prints + 1), [this, execution, times = how.prints] { print(execution, times); });
  }
  keeper_->spawned(execution, 100, world_.now());
  if (traits.endless) return;
  world_.after(how.runs, [this, execution, code = how.exit_code] { end_process(execution, code, 0); });
}

void WorkerNode::end_process(ExecutionId execution, int exit_code, int signal) {
  // A frozen process ends by itself only when it is thawed; a killed one dies at once.
  if (world_.elapsed() < frozen_until_ && signal == 0) {
    world_.after(frozen_until_ - world_.elapsed() + 1ms,
                 [this, execution, exit_code] { end_process(execution, exit_code, 0); });
    return;
  }
  if (processes_.erase(execution) == 0) return;
  checker_.processes().ended(execution, exit_code, signal);
  world_.trace(machine_, " sees the end of ", to_string(execution), " code ", exit_code, " signal ", signal);
  if (keeper_ == nullptr) return;
  keeper_->main_exited(execution, exit_code, signal, world_.now());
  ending_[execution] = {exit_code, signal};
  end_if_drained(execution);
  act();
}

// A line or a part of one, with its place in it, so that no byte stands for another. A process that waits for room in
// its pipe prints nothing more.
void WorkerNode::print(ExecutionId execution, int times) {
  const auto process = processes_.find(execution);
  const auto pipe = pipes_.find(execution);
  if (process == processes_.end() || pipe == pipes_.end() || keeper_ == nullptr) return;
  const Behaviour& how = process->second.how;
  if (world_.elapsed() >= frozen_until_ && pipe->second.is_drained()) {
    std::string text = cat(short_id(execution.job), ".", execution.number, " ", times, " ");
    const uint64_t r = mix64(number(execution.job) * 31 + static_cast<uint64_t>(times));
    text.resize(text.size() + how.print_bytes * (1 + r % 3) / 2, static_cast<char>('a' + r % 26));
    if (r % 4 != 0) text += '\n';
    if (how.over_limit && times % 3 == 1) {
      pipe->second.leave_out(text);
    } else {
      pipe->second.print(std::move(text));
    }
    --times;
    act();
  }
  if (times == 0) return;
  const Duration wait = std::clamp<Duration>(how.runs / (how.prints + 1), 1ms, 10s);
  world_.after(wait, [this, execution, times] { print(execution, times); });
}

void WorkerNode::end_if_drained(ExecutionId execution) {
  const auto pipe = pipes_.find(execution);
  if (pipe != pipes_.end() && !pipe->second.is_drained()) return;
  if (ending_.erase(execution) == 0 || keeper_ == nullptr) return;
  worker::Exit usage;
  if (pipe != pipes_.end()) usage.log_bytes = pipe->second.log_bytes();
  keeper_->tree_dead(execution, usage, world_.now());
}

// The agent has freed something in a ring whose writer waits.
void WorkerNode::room_was_made() {
  world_.after(Duration(0), [this, life = supervisor_life_] {
    if (life != supervisor_life_ || keeper_ == nullptr) return;
    when_awake([this] {
      for (auto& [execution, pipe] : pipes_) {
        pipe.room_was_made();
        if (ending_.contains(execution)) end_if_drained(execution);
      }
      act();
    });
  });
}

}  // namespace hodei::sim
