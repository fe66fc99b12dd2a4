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
  return how;
}

void WorkerNode::start(const worker::RunOrder& order) {
  if (world_.elapsed() < refuses_until_) {
    // As the supervisor does that already holds too many: the word is all there is.
    worker::Exit full{.execution = order.execution, .outcome = worker::Outcome::Lost, .failure = "infrastructure"};
    full.message = "not now";
    session_->exited(full);
    session_->log_flushed(order.execution);
    session_->log_durable(order.execution);
    refused_.insert(order.execution);
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
          if (session_ != nullptr) session_->started(a.execution, a.at, a.pid);
        } else if constexpr (std::is_same_v<A, worker::TellExited>) {
          if (a.exit.outcome == worker::Outcome::Interrupted && a.exit.started.is_set()) {
            checker_.lives().interrupted(a.exit.execution, machine_);
          }
          if (session_ != nullptr) {
            session_->exited(a.exit);
            session_->log_flushed(a.exit.execution);
            session_->log_durable(a.exit.execution);
          }
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
  keeper_->tree_dead(execution, {}, world_.now());
  act();
}

}  // namespace hodei::sim
