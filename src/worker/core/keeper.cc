#include "src/worker/core/keeper.h"

#include <algorithm>

namespace hodei::worker {
namespace {

constexpr int kKilled = 128 + 9;  // as a shell tells it

struct Verdict {
  Outcome outcome;
  const char* failure;
  const char* message;
};

Verdict verdict(KillReason why) {
  switch (why) {
    case KillReason::Cancelled: return {Outcome::Cancelled, "cancelled", "cancelled"};
    case KillReason::TimedOut: return {Outcome::TimedOut, "timeout", "ran longer than its timeout"};
    case KillReason::LeaseExpired:
      return {Outcome::Lost, "lease_expired", "the worker's lease ended before the server responded"};
    case KillReason::Stopping: return {Outcome::Interrupted, "interrupted", "the worker was stopped"};
  }
  return {Outcome::Lost, "worker_restarted", ""};
}

void judge_by_status(Exit& exit) {
  if (exit.signal != 0) {
    exit.outcome = Outcome::Failed;
    exit.failure = "signal";
    exit.message = "killed by signal " + std::to_string(exit.signal);
  } else if (exit.exit_code != 0) {
    exit.outcome = Outcome::Failed;
    exit.failure = "non_zero_exit";
    exit.message = "exited with " + std::to_string(exit.exit_code);
  } else {
    exit.outcome = Outcome::Succeeded;
  }
}

// What only the worker knows about an end, such as that a limit was its cause.
void judge_by_usage(Exit& exit, const Exit& usage) {
  if (!usage.failure.empty()) {
    exit.outcome = Outcome::Failed;
    exit.failure = usage.failure;
    exit.message = usage.message;
    if (exit.exit_code == 0) exit.exit_code = kKilled;
  } else if (!usage.message.empty()) {
    exit.message = (exit.message.empty() ? "exited with 0" : exit.message) + "; " + usage.message;
  }
}

// Gone without anybody having seen how.
void judge_unseen(Exit& exit) {
  exit.outcome = Outcome::Lost;
  exit.failure = "worker_restarted";
  exit.message = "its end was not seen";
}

}  // namespace

void judge(Exit& exit, KillReason why) {
  const Verdict v = verdict(why);
  exit.outcome = v.outcome;
  exit.failure = v.failure;
  exit.message = v.message;
}

void Keeper::start(const StartOrder& order, Now now) {
  if (held_.contains(order.execution)) return;
  if (stopping_) return refuse(order, KillReason::Stopping, now);
  if (lease_ended(now)) return refuse(order, KillReason::LeaseExpired, now);
  if (held_.size() >= config_.max_held) {
    // Not kept: the record would itself be over the limit. If the word is lost, the next Hello does not list it.
    Exit full{.execution = order.execution, .outcome = Outcome::Lost, .failure = "infrastructure"};
    full.message = "the worker already holds " + std::to_string(held_.size()) + " executions";
    full.ended = now.wall;
    actions_.push_back(TellExited{std::move(full)});
    return;
  }
  add(order);
  at_risk_.insert(order.execution);
  actions_.push_back(Spawn{order.execution});
}

void Keeper::refuse(const StartOrder& order, KillReason why, Now now) {
  Entry& entry = add(order);
  judge(entry.exit, why);
  end(entry, now);
}

void Keeper::kill(ExecutionId execution, KillReason why, Duration grace, Now now) {
  Entry* entry = find_alive(execution);
  if (entry == nullptr || entry->main_gone) return;  // it ended by itself: its exit status stands
  begin_end(*entry, why, grace, now);
}

void Keeper::extend_lease(MonoTime until) { lease_until_ = std::max(lease_until_, until); }

void Keeper::adopt(const Exit& exit) {
  Entry& entry = add({.execution = exit.execution});
  entry.exit = exit;
  entry.spawned = exit.started.is_set();
  entry.main_gone = entry.ended = entry.sigkilled = true;
}

void Keeper::forget(ExecutionId execution) {
  const auto it = held_.find(execution);
  if (it == held_.end() || !it->second.ended) return;
  held_.erase(it);
  actions_.push_back(Release{execution});
}

void Keeper::spawned(ExecutionId execution, int64_t pid, Now now) {
  Entry* entry = find_alive(execution);
  if (entry == nullptr || entry->spawned) return;
  entry->spawned = true;
  entry->pid = pid;
  entry->exit.started = now.wall;
  actions_.push_back(TellStarted{execution, now.wall, pid});
  if (entry->dying) {
    const bool at_once = entry->sigkilled || entry->deadline <= now.mono;
    actions_.push_back(SignalTree{execution, at_once});
    if (at_once) sigkill(*entry);
  } else if (entry->order.timeout > Duration::zero()) {
    set_deadline(*entry, now.mono + entry->order.timeout);
  }
  expire(now);
}

void Keeper::spawn_failed(ExecutionId execution, const Exit& how, Now now) {
  Entry* entry = find_alive(execution);
  if (entry == nullptr || entry->spawned) return;
  entry->exit = how;
  entry->exit.execution = execution;
  entry->exit.started = {};
  if (entry->dying) judge(entry->exit, *entry->dying);
  end(*entry, now);
}

void Keeper::main_exited(ExecutionId execution, int exit_code, int signal, Now) {
  Entry* entry = find_alive(execution);
  if (entry == nullptr || entry->main_gone) return;
  entry->main_gone = true;
  entry->exit.exit_code = exit_code;
  entry->exit.signal = signal;
  if (entry->dying) {
    judge(entry->exit, *entry->dying);
  } else {
    judge_by_status(entry->exit);
  }
  // Told again even if it was killed before: a straggler may have been born in between.
  actions_.push_back(SignalTree{execution, true});
  sigkill(*entry);
}

void Keeper::tree_dead(ExecutionId execution, const Exit& usage, Now now) {
  Entry* entry = find_alive(execution);
  if (entry == nullptr) return;
  if (!entry->main_gone && entry->dying) judge(entry->exit, *entry->dying);
  if (!entry->main_gone && !entry->dying) judge_unseen(entry->exit);
  entry->exit.facts = usage.facts;
  entry->exit.log_bytes = usage.log_bytes;
  if (!entry->dying) judge_by_usage(entry->exit, usage);
  end(*entry, now);
}

void Keeper::stop_gracefully(Duration grace, Now now) {
  const MonoTime until = now.mono + grace;
  stop_at_ = std::min(stop_at_, until);
  stopping_ = true;
  end_stopped(now);
}

void Keeper::end_stopped(Now now) {
  if (now.mono < stop_at_) return;
  stop_at_ = kNever;
  for (auto& [id, entry] : held_) {
    if (!entry.ended && !entry.main_gone) begin_end(entry, KillReason::Stopping, Duration::zero(), now);
  }
}

void Keeper::stop_at_once() {
  for (auto& [id, entry] : held_) {
    if (entry.ended || entry.main_gone || entry.sigkilled) continue;
    if (!entry.dying) entry.dying = KillReason::Stopping;
    if (entry.spawned) actions_.push_back(SignalTree{id, true});
    sigkill(entry);
  }
}

void Keeper::tick(Now now) {
  expire(now);
  end_stopped(now);
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.mono) {
    Entry& entry = held_.at(deadlines_.begin()->second);
    if (!entry.dying) {
      begin_end(entry, KillReason::TimedOut, Duration::zero(), now);
    } else {
      if (entry.spawned) actions_.push_back(SignalTree{entry.order.execution, true});
      sigkill(entry);
    }
  }
}

MonoTime Keeper::next_deadline() const {
  MonoTime next = deadlines_.empty() ? kNever : deadlines_.begin()->first;
  if (!at_risk_.empty()) next = std::min({next, lease_until_, stop_at_});
  return next;
}

std::vector<KeeperAction> Keeper::take_actions() { return std::exchange(actions_, {}); }

void Keeper::begin_end(Entry& entry, KillReason why, Duration grace, Now now) {
  if (entry.sigkilled) return;
  if (why == KillReason::LeaseExpired) {
    // Who is stopped while the server is away may not outlast the lease either; the stop is why it cannot go on.
    if (!entry.dying) entry.dying = stopping_ ? KillReason::Stopping : why;
    if (entry.spawned) actions_.push_back(SignalTree{entry.order.execution, true});
    return sigkill(entry);
  }
  if (grace <= Duration::zero()) grace = entry.order.grace;
  if (grace <= Duration::zero()) grace = config_.default_grace;
  MonoTime kill_at = now.mono + grace;
  // No job holds up a stop for longer than the worker itself would.
  if (stopping_) kill_at = std::min(kill_at, (stop_at_ == kNever ? now.mono : stop_at_) + config_.default_grace);
  if (entry.dying) return set_deadline(entry, std::min(entry.deadline, kill_at));
  entry.dying = why;
  set_deadline(entry, kill_at);
  if (entry.spawned) actions_.push_back(SignalTree{entry.order.execution, false});
}

void Keeper::end(Entry& entry, Now now) {
  sigkill(entry);
  entry.ended = true;
  entry.exit.ended = now.wall;
  actions_.push_back(TellExited{entry.exit});
}

void Keeper::expire(Now now) {
  if (!lease_ended(now)) return;
  for (const ExecutionId id : std::exchange(at_risk_, {})) {
    begin_end(held_.at(id), KillReason::LeaseExpired, Duration::zero(), now);
  }
}

}  // namespace hodei::worker
