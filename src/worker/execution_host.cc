#include "src/worker/execution_host.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "src/base/status.h"
#include "src/worker/shortage.h"
#include "src/worker/small_files.h"

namespace hodei::worker {
namespace {

constexpr int64_t kOutputBlock = 512;  // of rusage
constexpr uint64_t kKeysEach = 4;      // of one execution: stdout, stderr, stdin
constexpr uint64_t kStdinKey = 2;

// The smaller of two limits, of which 0 is none.
int64_t stricter(int64_t a, int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

int64_t milliseconds(const timeval& t) { return int64_t{t.tv_sec} * 1000 + t.tv_usec / 1000; }

}  // namespace

void ExecutionHost::offer(ExecutionId execution, Program program) { offered_.emplace(execution, std::move(program)); }

void ExecutionHost::spawn(ExecutionId execution, Now now) {
  HODEI_CHECK(offered_.has_value() && offered_->first == execution);
  auto owned = std::make_unique<Running>();
  Running& running = *owned;
  running_[execution] = std::move(owned);
  running.execution = execution;
  if (free_indexes_.empty()) {
    free_indexes_.push_back(static_cast<uint32_t>(by_index_.size()));
    by_index_.push_back(nullptr);
  }
  running.index = free_indexes_.back();
  free_indexes_.pop_back();
  by_index_[running.index] = &running;

  // There is no place for it here, whatever it is: that is not the job's fault.
  const auto give_up = [&](const absl::Status& why) {
    fail_to_spawn(running, not_started_here(std::string(why.message())), now);
  };
  auto place = take_place(needs_group(offered_->second.limits, parts_.groups));
  if (!place.ok()) return give_up(place.status());
  running.place = std::move(*place);
  running.place->enclosure->assign(execution);
  auto ring = parts_.rings.take();
  if (!ring.ok()) return give_up(ring.status());
  running.ring = *ring;
  OutputRules rules = offered_->second.output;
  rules.max_bytes = stricter(rules.max_bytes, parts_.most_output);
  running.output = std::make_unique<OutputReader>(parts_.rings.memory(*ring), rules, now.mono);
  if (offered_->second.streams_input) {
    running.input = std::make_unique<InputFeeder>();
    with_input_.insert(execution);
  }
  running.spawn_number = ++spawns_ordered_;
  SpawnOrder order{.number = running.spawn_number,
                   .execution = execution,
                   .program = std::move(offered_->second),
                   .place = running.place.get()};
  note_limits(running, order);
  parts_.spawns.submit(std::move(order));
  offered_.reset();
}

void ExecutionHost::take_spawned(Now now) {
  SpawnPool::Finished finished = parts_.spawns.take();
  for (std::unique_ptr<Place>& place : finished.cleaned) {
    keep_free(std::move(place));
  }
  for (SpawnDone& done : finished.spawned) {
    ++spawns_done_;
    Running* running = find(done.execution);
    if (running == nullptr) continue;
    if (const Exit* failure = std::get_if<Exit>(&done.result)) {
      fail_to_spawn(*running, *failure, now);
      continue;
    }
    auto& spawned = std::get<Spawned>(done.result);
    running->pid = spawned.pid;
    running->output->open(std::move(spawned.out), std::move(spawned.err));
    if (running->input != nullptr) running->input->open(std::move(spawned.in));
    running->place->enclosure->entered(spawned.pid);
    ring_of_[done.execution] = running->ring;
    parts_.keeper.spawned(done.execution, spawned.pid, now);
    const auto early = early_exits_.find(spawned.pid);
    if (early != early_exits_.end() && done.number <= early->second.spawns_ordered) {
      const EarlyExit exit = early->second;
      early_exits_.erase(early);
      main_is_gone(*running, exit.code, exit.status, exit.usage, now);
    } else {
      by_pid_[spawned.pid] = running;
      if (!running->place->group) {
        parts_.watch.follow({.execution = done.execution,
                             .main = spawned.pid,
                             .cgroup = running->place->enclosure->cgroup(),
                             .meter = nullptr});
      }
      running->output->watch(parts_.epoll, kPipeKeys + running->index * kKeysEach);
      if (running->input != nullptr)
        running->input->watch(parts_.epoll, kPipeKeys + running->index * kKeysEach + kStdinKey);
    }
  }
  if (spawns_done_ == spawns_ordered_) early_exits_.clear();
}

void ExecutionHost::reaped(pid_t pid, int code, int status, const rusage& usage, Now now) {
  const auto it = by_pid_.find(pid);
  if (it != by_pid_.end()) {
    Running& running = *it->second;
    by_pid_.erase(it);
    return main_is_gone(running, code, status, usage, now);
  }
  // An orphan of a job, or a job whose start the loop has not been told yet.
  if (spawns_done_ != spawns_ordered_) early_exits_[pid] = {spawns_ordered_, code, status, usage};
}

// The kernel charges a new program with the memory of the process that started it: up to what the supervisor itself has
// had, the figure says nothing about the job. 0: not known.
int64_t ExecutionHost::own_memory_kb(const rusage& usage) {
  if (usage.ru_maxrss > supervisor_peak_kb_) {
    supervisor_peak_kb_ = number_after("VmHWM:", read_file("/proc/self/status"));
  }
  return usage.ru_maxrss > supervisor_peak_kb_ ? usage.ru_maxrss : 0;
}

void ExecutionHost::main_is_gone(Running& running, int code, int status, const rusage& usage, Now now) {
  running.main_gone = true;
  running.place->enclosure->main_ended();
  const int64_t seen_kb = running.place->group ? 0 : parts_.watch.unfollow(running.execution);
  running.usage.facts.usage = {.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
                               .max_memory_kb = std::max(own_memory_kb(usage), seen_kb),
                               .io_read_bytes = usage.ru_inblock * kOutputBlock,
                               .io_write_bytes = usage.ru_oublock * kOutputBlock};
  const int signal = code == CLD_EXITED ? 0 : status;
  parts_.keeper.main_exited(running.execution, code == CLD_EXITED ? status : 128 + signal, signal, now);
}

void ExecutionHost::signal(ExecutionId execution, bool kill) {
  Running* running = find(execution);
  if (running == nullptr || running->tree_gone) return;
  Enclosure& enclosure = *running->place->enclosure;
  if (!kill) return enclosure.terminate();
  enclosure.kill();
  if (!running->main_gone) return;
  dying_.insert(execution);
  next_check_ = MonoTime{0};  // look at once, in this turn
}

void ExecutionHost::check_dying(Now now) {
  if (now.mono < next_check_) return;
  next_check_ = kNever;
  for (const ExecutionId execution : std::exchange(dying_, {})) {
    if (Running* running = find(execution)) look_after_dying(*running, now);
  }
}

void ExecutionHost::look_after_dying(Running& running, Now now) {
  Enclosure& enclosure = *running.place->enclosure;
  if (!enclosure.is_empty()) {
    // Killed but not gone yet, or born meanwhile: kill again, look again, less and less often.
    if (running.checks > 0) enclosure.kill();
    const Duration wait = std::min<Duration>(100ms, 500us * (1 << std::min(running.checks++, 10)));
    next_check_ = std::min(next_check_, now.mono + wait);
    dying_.insert(running.execution);
    return;
  }
  running.tree_gone = true;
  note_half_read(running);
  take_measure(running);
  give_back(std::move(running.place));
  note_read(running, running.output->drain_rest(now));
  finish_if_drained(running, now);
}

void ExecutionHost::finish_if_drained(Running& running, Now now) {
  if (!running.tree_gone || running.output->is_blocked()) return;
  const OutputReader& output = *running.output;
  running.usage.log_bytes = static_cast<int64_t>(output.written());
  running.usage.facts.dropped_bytes = static_cast<int64_t>(output.dropped_bytes());
  running.usage.facts.dropped_lines = static_cast<int64_t>(output.dropped_lines());
  dropped_before_ += output.dropped_lines();
  const ExecutionId execution = running.execution;
  const Exit usage = running.usage;
  forget(running);
  parts_.keeper.tree_dead(execution, usage, now);
}

void ExecutionHost::ready(uint64_t key, Now now) {
  const uint64_t index = (key - kPipeKeys) / kKeysEach;
  if (index >= by_index_.size() || by_index_[index] == nullptr) return;
  Running& running = *by_index_[index];
  const uint64_t pipe = key % kKeysEach;
  if (pipe != kStdinKey) return note_read(running, running.output->readable(static_cast<OutputStream>(pipe), now));
  if (running.input != nullptr) running.input->feed();
}

void ExecutionHost::room_was_made(Now now) {
  for (auto it = running_.begin(); it != running_.end();) {
    Running& running = *(it++)->second;
    if (running.output == nullptr) continue;
    note_read(running, running.output->room_was_made(now));
    finish_if_drained(running, now);
  }
}

void ExecutionHost::give_up_output(Now now) {
  for (auto it = running_.begin(); it != running_.end();) {
    Running& running = *(it++)->second;
    if (!running.tree_gone) continue;
    running.output->give_up(now);
    finish_if_drained(running, now);
  }
}

bool ExecutionHost::has_living_trees() const {
  return std::any_of(running_.begin(), running_.end(), [](const auto& each) { return !each.second->tree_gone; });
}

void ExecutionHost::resume_reading(Now now) {
  if (now.mono < next_resume_) return;
  next_resume_ = kNever;
  for (const auto& [id, running] : running_) {
    if (running->output != nullptr) note_read(*running, running->output->go_on(now));
  }
}

void ExecutionHost::note_read(const Running& running, bool news) {
  if (news) output_written_ = true;
  next_resume_ = std::min(next_resume_, running.output->waits_until());
}

uint64_t ExecutionHost::dropped_lines() const {
  uint64_t lines = dropped_before_;
  for (const auto& [id, running] : running_) lines += running->output == nullptr ? 0 : running->output->dropped_lines();
  return lines;
}

void ExecutionHost::fail_to_spawn(Running& running, const Exit& how, Now now) {
  const ExecutionId execution = running.execution;
  if (running.limits.disk_bytes > 0) parts_.watch.unguard(execution);
  if (running.ring != 0) parts_.rings.give_back(running.ring);
  if (running.place) give_back(std::move(running.place));
  forget(running);
  parts_.keeper.spawn_failed(execution, how, now);
}

void ExecutionHost::forget(Running& running) {
  // The number may already belong to a newer process.
  if (const auto it = by_pid_.find(running.pid); it != by_pid_.end() && it->second == &running) by_pid_.erase(it);
  by_index_[running.index] = nullptr;
  free_indexes_.push_back(running.index);
  with_input_.erase(running.execution);
  running_.erase(running.execution);  // closes the pipes, which takes them out of epoll
}

void ExecutionHost::release(ExecutionId execution) {
  const auto it = ring_of_.find(execution);
  if (it == ring_of_.end()) return;
  parts_.rings.give_back(it->second);
  ring_of_.erase(it);
}

void ExecutionHost::adopt_output(ExecutionId execution, const std::vector<OutputRecord>& records) {
  const absl::StatusOr<uint64_t> ring = parts_.rings.take(ring_bytes_for(records));
  if (!ring.ok()) return;  // it is lost, and its log says so
  refill(*parts_.rings.memory(*ring), records);
  ring_of_[execution] = *ring;
}

RingMemory* ExecutionHost::output_of(ExecutionId execution) {
  const uint64_t ring = ring_of(execution);
  return ring == 0 ? nullptr : parts_.rings.memory(ring);
}

uint64_t ExecutionHost::ring_of(ExecutionId execution) const {
  const auto it = ring_of_.find(execution);
  return it == ring_of_.end() ? 0 : it->second;
}

ExecutionHost::Running* ExecutionHost::find(ExecutionId execution) {
  const auto it = running_.find(execution);
  return it == running_.end() ? nullptr : it->second.get();
}

}  // namespace hodei::worker
