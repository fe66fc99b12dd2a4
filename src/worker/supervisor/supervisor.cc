#include "src/worker/supervisor/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/descriptor_limit.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr Duration kLeastGatherOfEvents = 1ms;
constexpr Duration kMostGatherOfEvents = 3ms;

}  // namespace

Supervisor::Supervisor(WorkerOptions options, StateFolder& state, AgentLauncher& launcher, const Clock& clock)
    : parts_(std::move(options), state, launcher, clock), shutdown_(parts_), agent_side_(parts_, shutdown_) {}

Supervisor::~Supervisor() {
  if (parts_.spawns) parts_.spawns->stop();
  parts_.watch.stop();
}

absl::Status Supervisor::start() {
  RETURN_IF_ERROR(prepare_machine(parts_.options, parts_.state, parts_.machine));
  agent_side_.open();
  raise_descriptor_limit();  // every running execution needs two pipes and every held one a ring
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  RETURN_IF_ERROR(open_parts());
  say("supervisor of ", parts_.options.worker_id, " started; ", describe(parts_.machine, parts_.options));
  if (const std::string missing = what_is_not_enforced(parts_.machine); !missing.empty()) say(missing);
  const Now now = parts_.clock.now();
  shutdown_.server_was_heard(now.mono);
  shutdown_.records().recall(parts_.keeper, parts_.rings);
  agent_side_.launch_if_due(now);
  return absl::OkStatus();
}

absl::Status Supervisor::open_parts() {
  RETURN_IF_ERROR(parts_.events.open());
  parts_.spawns = std::make_unique<SpawnPool>(parts_.options.spawn_threads, parts_.state.mark());
  RETURN_IF_ERROR(parts_.spawns->start());
  RETURN_IF_ERROR(parts_.watch.start());
  Machine& machine = parts_.machine;
  parts_.host =
      std::make_unique<ExecutionHost>(ExecutionHost::Parts{.keeper = parts_.keeper,
                                                           .enclosures = *machine.enclosures,
                                                           .groups = machine.groups.get(),
                                                           .watch = parts_.watch,
                                                           .spawns = *parts_.spawns,
                                                           .rings = parts_.rings,
                                                           .folders = *machine.folders,
                                                           .ledger = machine.ledger ? &*machine.ledger : nullptr,
                                                           .most_output = parts_.options.job_log_bytes,
                                                           .own = machine.own,
                                                           .cgroup = machine.is_alone ? machine.cgroup : OwnLimits{},
                                                           .epoll = parts_.events.epoll()});
  parts_.events.listen(parts_.spawns->ready_fd(), SupervisorEvents::kSpawns);
  parts_.events.listen(parts_.watch.ready_fd(), SupervisorEvents::kWatch);
  return absl::OkStatus();
}

int Supervisor::run() {
  while (turn()) {
  }
  return shutdown_.exit_code();
}

// A turn costs a tenth of a start, and a job makes five of them. When many small ones end, turns come at most every so
// often and deal with several jobs at once; a job ends that much later at most.
void Supervisor::gather() {
  const MonoTime now = parts_.clock.now().mono;
  const bool has_free_slots = parts_.keeper.held_count() < slots_of(parts_.options);
  const Duration time = pace_.gather_time(parts_.host->running().size(), cores_, has_free_slots, kLeastGatherOfEvents,
                                          kMostGatherOfEvents, now);
  const Duration left = last_turn_ + time - now;
  if (left > Duration::zero()) pause_for(std::min(left, time));
}

bool Supervisor::turn(int timeout_ms) {
  gather();
  set_timer();
  const std::span<const epoll_event> events = parts_.events.wait(timeout_ms);
  const Now now = parts_.clock.now();
  last_turn_ = now.mono;
  if (parts_.machine.ledger) parts_.machine.ledger->alive(now.mono);
  if (now.mono >= parts_.keeper.next_deadline()) {
    // After a stall: first hear whether the lease was extended, then judge by it, then look at who died. Otherwise
    // what was killed because the lease had ended would pass for a crash of its own.
    parts_.agent.hear(now);
    parts_.keeper.tick(now);
    agent_side_.settle(now);
  }
  for (const epoll_event& event : events) handle(event.data.u64, now);
  parts_.host->pipes().resume(parts_.host->running(), now);
  parts_.keeper.tick(now);
  agent_side_.settle(now);
  agent_side_.tell_news(now);
  agent_side_.launch_if_due(now);
  shutdown_.leave_if_alone(now);
  return !shutdown_.is_over(now);
}

void Supervisor::handle(uint64_t key, Now now) {
  if (key >= ExecutionHost::kPipeKeys) return parts_.host->ready(key, now);
  switch (key) {
    case SupervisorEvents::kSignals: return on_signals(now);
    case SupervisorEvents::kTimer: return parts_.events.timer_rang();
    case SupervisorEvents::kSpawns: return parts_.host->take_spawned(now);
    case SupervisorEvents::kAgent: return parts_.agent.hear(now);
    case SupervisorEvents::kWatch: return on_watch();
    case SupervisorEvents::kRoom: parts_.events.take_room(); return parts_.host->room_was_made(now);
    default: return;
  }
}

void Supervisor::on_watch() {
  ExecutionWatch::Seen seen = parts_.watch.take();
  for (const ExecutionWatch::OverQuota& over : seen.over) parts_.host->over_quota(over);
  if (seen.usage) parts_.agent.put(protocol::UsageRead{std::move(*seen.usage)});
}

void Supervisor::on_signals(Now now) {
  bool child = false;
  for (const signalfd_siginfo& info : parts_.events.signals()) {
    if (info.ssi_signo == SIGCHLD) {
      child = true;
    } else {
      shutdown_.on_signal(static_cast<pid_t>(info.ssi_pid), now);
    }
  }
  if (child) reap(now);
}

void Supervisor::reap(Now now) {
  parts_.machine.orphans->reaping();
  while (true) {
    siginfo_t info{};
    rusage usage{};
    // The system call itself: the C library's waitid() has no rusage.
    if (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG, &usage) != 0 || info.si_pid == 0) return;
    if (parts_.agent.reaped(info, now)) continue;
    pace_.note(now.mono);
    parts_.host->reaped(info.si_pid, {.code = info.si_code, .status = info.si_status, .usage = usage}, now);
  }
}

void Supervisor::set_timer() {
  parts_.events.set_timer(std::min(
      {parts_.keeper.next_deadline(), parts_.host->next_check(), agent_side_.next_launch(), shutdown_.next_due()}));
}

}  // namespace hodei::worker
