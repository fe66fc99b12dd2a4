#include "src/worker/supervisor/execution_host.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kKeysEach = 4;  // of one execution: stdout, stderr, stdin
constexpr uint64_t kStdinKey = 2;

// The smaller of two limits, of which 0 is none.
int64_t stricter(int64_t a, int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

}  // namespace

ExecutionHost::ExecutionHost(Parts parts)
    : parts_(std::move(parts)),
      places_({.enclosures = parts_.enclosures,
               .groups = parts_.groups,
               .folders = parts_.folders,
               .ledger = parts_.ledger,
               .spawns = parts_.spawns}),
      measures_({.enclosures = parts_.enclosures,
                 .groups = parts_.groups,
                 .watch = parts_.watch,
                 .own = parts_.own,
                 .cgroup = parts_.cgroup}),
      inputs_(running_) {}

void ExecutionHost::spawn(ExecutionId execution, Program program, Now now) {
  Running& running = running_.add(execution);
  // There is no place for it here, whatever it is: that is not the job's fault.
  const auto give_up = [&](const absl::Status& why) {
    fail_to_spawn(running, not_started_here(std::string(why.message())), now);
  };
  auto place = places_.take(needs_group(program.limits, parts_.groups));
  if (!place.ok()) return give_up(place.status());
  running.place = std::move(*place);
  running.place->enclosure->assign(execution);
  RingPool& rings = parts_.rings.pool();
  auto ring = rings.take();
  if (!ring.ok()) return give_up(ring.status());
  running.ring = *ring;
  OutputRules rules = program.output;
  rules.max_bytes = stricter(rules.max_bytes, parts_.most_output);
  running.output = std::make_unique<OutputReader>(rings.memory(*ring), rules, now.mono);
  if (program.streams_input) inputs_.begin(running);
  running.spawn_number = running_.early_exits().order();
  SpawnOrder order{.number = running.spawn_number,
                   .execution = execution,
                   .program = std::move(program),
                   .place = running.place.get()};
  measures_.begin(running, order);
  parts_.spawns.submit(std::move(order));
}

void ExecutionHost::take_spawned(Now now) {
  SpawnPool::Finished finished = parts_.spawns.take();
  for (std::unique_ptr<Place>& place : finished.cleaned) places_.keep_free(std::move(place));
  for (SpawnDone& done : finished.spawned) {
    running_.early_exits().started();
    Running* running = running_.find(done.execution);
    if (running == nullptr) continue;
    if (const Exit* failure = std::get_if<Exit>(&done.result)) {
      fail_to_spawn(*running, *failure, now);
    } else {
      started(*running, std::get<Spawned>(done.result), now);
    }
  }
  running_.early_exits().forget_strangers();
}

void ExecutionHost::started(Running& running, Spawned& spawned, Now now) {
  running.pid = spawned.pid;
  running.output->open(std::move(spawned.out), std::move(spawned.err));
  if (running.input != nullptr) running.input->open(std::move(spawned.in));
  running.place->enclosure->entered(spawned.pid);
  parts_.rings.assign(running.execution, running.ring);
  parts_.keeper.spawned(running.execution, spawned.pid, now);
  if (const auto exited = running_.early_exits().take(spawned.pid, running.spawn_number)) {
    return main_is_gone(running, *exited, now);
  }
  running_.has_process(running);
  measures_.started(running);
  const uint64_t key = kPipeKeys + running.index * kKeysEach;
  running.output->watch(parts_.epoll, key);
  if (running.input != nullptr) running.input->watch(parts_.epoll, key + kStdinKey);
}

void ExecutionHost::reaped(pid_t pid, const EarlyExits::Exited& exited, Now now) {
  if (Running* running = running_.take(pid)) return main_is_gone(*running, exited, now);
  running_.early_exits().note(pid, exited);  // or it is an orphan of a job
}

void ExecutionHost::main_is_gone(Running& running, const EarlyExits::Exited& exited, Now now) {
  running.main_gone = true;
  running.place->enclosure->main_ended();
  measures_.main_ended(running, exited.usage);
  const int signal = exited.code == CLD_EXITED ? 0 : exited.status;
  const int exit_code = exited.code == CLD_EXITED ? exited.status : 128 + signal;
  parts_.keeper.main_exited(running.execution, exit_code, signal, now);
}

void ExecutionHost::signal(ExecutionId execution, bool kill) {
  Running* running = running_.find(execution);
  if (running == nullptr || running->tree_gone) return;
  Enclosure& enclosure = *running->place->enclosure;
  if (!kill) return enclosure.terminate();
  enclosure.kill();
  if (running->main_gone) dying_.add(execution);
}

void ExecutionHost::check_dying(Now now) {
  for (const ExecutionId execution : dying_.take_due(now.mono)) {
    Running* running = running_.find(execution);
    if (running != nullptr && dying_.is_gone(*running, now.mono)) tree_is_gone(*running, now);
  }
}

void ExecutionHost::tree_is_gone(Running& running, Now now) {
  running.tree_gone = true;
  ExecutionInputs::note_half_read(running);
  measures_.end(running, running_.size() == 1);
  places_.give_back(std::move(running.place));
  pipes_.note_read(running, running.output->drain_rest(now));
  finish_if_drained(running, now);
}

void ExecutionHost::finish_if_drained(Running& running, Now now) {
  if (!running.tree_gone || running.output->is_blocked()) return;
  pipes_.count(running);
  const ExecutionId execution = running.execution;
  const Exit usage = running.usage;
  inputs_.forget(execution);
  running_.remove(running);
  parts_.keeper.tree_dead(execution, usage, now);
}

void ExecutionHost::ready(uint64_t key, Now now) {
  Running* running = running_.at((key - kPipeKeys) / kKeysEach);
  if (running == nullptr) return;
  const uint64_t pipe = key % kKeysEach;
  if (pipe != kStdinKey) {
    pipes_.note_read(*running, running->output->readable(static_cast<OutputStream>(pipe), now));
  } else if (running->input != nullptr) {
    running->input->feed();
  }
}

void ExecutionHost::room_was_made(Now now) {
  for (auto it = running_.begin(); it != running_.end();) {
    Running& running = *(it++)->second;
    if (running.output == nullptr) continue;
    pipes_.note_read(running, running.output->room_was_made(now));
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

void ExecutionHost::fail_to_spawn(Running& running, const Exit& how, Now now) {
  const ExecutionId execution = running.execution;
  measures_.give_up(running);
  if (running.ring != 0) parts_.rings.pool().give_back(running.ring);
  if (running.place) places_.give_back(std::move(running.place));
  inputs_.forget(execution);
  running_.remove(running);
  parts_.keeper.spawn_failed(execution, how, now);
}

void ExecutionHost::over_quota(const ExecutionWatch::OverQuota& over) {
  Running* running = running_.find(over.execution);
  if (running != nullptr && measures_.over_quota(*running, over)) running->place->enclosure->kill();
}

}  // namespace hodei::worker
