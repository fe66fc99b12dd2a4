#include "src/worker/supervisor.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/counted.h"
#include "src/base/descriptor_limit.h"
#include "src/base/folder_tree.h"
#include "src/base/pause.h"
#include "src/base/random.h"
#include "src/base/status.h"
#include "src/worker/journal.h"
#include "src/worker/sandbox.h"
#include "src/worker/secret_files.h"
#include "src/worker/state_folder.h"
#include "src/worker/worker_info.h"

namespace hodei::worker {
namespace {

constexpr size_t kMoreRecords = 64;  // beyond two for each slot: trees that are killed but not gone hold theirs
constexpr Duration kLeastGatherOfEvents = 1ms;
constexpr Duration kMostGatherOfEvents = 3ms;
constexpr ProgramLimits kEveryLimit{.cpu_milli = 1, .memory_bytes = 1, .pids = 1, .io_weight = 1, .disk_bytes = 1};

uint64_t take_event_count(int fd) {
  uint64_t count = 0;
  return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

}  // namespace

Supervisor::Supervisor(WorkerOptions options, StateFolder& state, AgentLauncher& launcher, const Clock& clock)
    : options_(std::move(options)),
      state_(state),
      launcher_(launcher),
      clock_(clock),
      keeper_(KeeperConfig{.default_grace = options_.grace}),
      watch_(clock),
      rings_(options_.ring_bytes) {}

Supervisor::~Supervisor() {
  if (spawns_) spawns_->stop();
  watch_.stop();
}

absl::Status Supervisor::start() {
  orphans_ = std::make_shared<Orphans>();
  // Before anything else: no second copy of a job may ever run beside one that an earlier supervisor left behind.
  const EnclosureOptions how{.cgroups = options_.cgroups,
                             .only_v1 = options_.only_cgroups_v1,
                             .cgroup_root = options_.cgroup_root,
                             .mark = state_.mark(),
                             .most_processes = options_.job_processes,
                             .orphans = orphans_};
  enclosures_ = choose_enclosures(how);
  RETURN_IF_ERROR(end_leftovers());
  groups_ = choose_resource_groups(how, *enclosures_);
  learn_own_limits();
  ASSIGN_OR_RETURN(WorkFolders folders, WorkFolders::make(state_.work()));
  folders_.emplace(std::move(folders));
  drop_all_secret_files(stage_folder(options_.state_dir));
  if (absl::Status removed = remove_tree(stage_folder(options_.state_dir)); !removed.ok()) {
    say("some artifacts of earlier jobs could not be removed: ", std::string(removed.message()));
  }

  socket_folder_ = SocketFolder::make(state_.mark(), options_.state_dir);
  if (socket_folder_.socket().empty()) say("no folder for a socket: jobs cannot report progress or outputs");
  socket_secret_ = cat(random_uuid(), random_uuid());

  raise_descriptor_limit();  // every running execution needs two pipes and every held one a ring
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int each : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&wanted, each);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  signals_ = Fd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = Fd(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  output_ready_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  room_made_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const Fd* fd : {&epoll_, &signals_, &timer_, &output_ready_, &room_made_}) {
    if (!fd->is_open()) return absl::ErrnoToStatus(errno, "opening the supervisor's descriptors");
  }
  spawns_ = std::make_unique<SpawnPool>(options_.spawn_threads, state_.mark());
  RETURN_IF_ERROR(spawns_->start());
  RETURN_IF_ERROR(watch_.start());
  host_ = std::make_unique<ExecutionHost>(ExecutionHost::Parts{.keeper = keeper_,
                                                               .enclosures = *enclosures_,
                                                               .groups = groups_.get(),
                                                               .watch = watch_,
                                                               .spawns = *spawns_,
                                                               .rings = rings_,
                                                               .folders = *folders_,
                                                               .ledger = ledger_ ? &*ledger_ : nullptr,
                                                               .most_output = options_.job_log_bytes,
                                                               .own = own_,
                                                               .cgroup = is_alone_ ? cgroup_ : OwnLimits{},
                                                               .epoll = epoll_.get()});
  listen(signals_.get(), kSignals);
  listen(timer_.get(), kTimer);
  listen(spawns_->ready_fd(), kSpawns);
  listen(room_made_.get(), kRoom);
  listen(watch_.ready_fd(), kWatch);
  say("supervisor of ", options_.worker_id, " started; jobs are contained by ", enclosures_->describe(), ", ",
      enclosures_->limits_processes() && options_.job_processes > 0
          ? cat("each with at most ", options_.job_processes, " processes")
          : std::string("with no limit on their processes"),
      "; ",
      groups_ ? cat("limits are enforced by ", groups_->describe()) : std::string("no cgroup enforces other limits"));
  ProgramLimits every = kEveryLimit;
  if (own_.cpu_milli > 0) every.cpu_milli = own_.cpu_milli;
  if (own_.memory_bytes > 0) every.memory_bytes = own_.memory_bytes;
  if (const std::string missing = not_enforced(every, *enclosures_, groups_.get(), own_); !missing.empty())
    say(missing);
  server_heard_ = clock_.now().mono;
  recall_last_words();
  launch_agent(clock_.now());
  return absl::OkStatus();
}

// In a container or a virtual machine the worker's own limits are its capacity, and hold for a job that runs alone in
// it. What remains that it cannot do for a job, the server must know.
void Supervisor::learn_own_limits() {
  cgroup_ = read_own_limits(options_.cgroup_root);
  is_alone_ = options_.isolation != "process";
  const auto lower = [](int64_t& offered, int64_t limit) {
    if (limit > 0) offered = offered == 0 ? limit : std::min(offered, limit);
  };
  lower(options_.cpu_milli, cgroup_.cpu_milli);
  lower(options_.memory_mb, cgroup_.memory_bytes >> 20);
  // Whoever shut the worker in limited it to what it was told to offer.
  if (is_alone_ && slots_of(options_) == 1) {
    own_ = {.cpu_milli = options_.cpu_milli, .memory_bytes = options_.memory_mb << 20};
  }
  const auto lacks = [this](const char* what, bool lacking) {
    if (lacking) options_.lacks.emplace_back(what);
  };
  const bool limits_cpu = groups_ != nullptr && groups_->limits_cpu();
  const bool limits_memory = groups_ != nullptr && groups_->limits_memory();
  lacks("cpu_limit", !limits_cpu);
  lacks("memory_limit", !limits_memory);
  lacks("own_cpu_limit", !limits_cpu && own_.cpu_milli == 0);
  lacks("own_memory_limit", !limits_memory && own_.memory_bytes == 0);
  // On a machine of its own a job that asks for too much is told so when it starts.
  lacks("sandbox", is_alone_ && !can_sandbox());
  lacks("secret_files", is_alone_ && !can_keep_secret_files());
}

absl::Status Supervisor::end_leftovers() {
  const Leftovers left = ExecutionLedger::read(state_.executions(), state_.mark());
  ASSIGN_OR_RETURN(int killed, enclosures_->kill_leftovers());
  const LeftoversKilled recorded = kill_recorded(left);
  killed += recorded.processes + kill_marked(state_.mark());
  if (killed > 0) say("killed ", hodei::counted(killed, "process"), " left by an earlier supervisor");
  // Without cgroups a process gets away that has left its parents, its session, its environment and its output.
  const bool all_found = left.is_complete && !recorded.unclear && (left.executions.empty() || enclosures_->holds_all());
  if (!all_found && state_.generation() > 1) {
    say("some processes of an earlier supervisor may not be found here: the server waits until its lease has ended");
    RETURN_IF_ERROR(state_.begin_lineage());
  }
  // Only now: whoever comes after a kill before this line finds what we found.
  auto ledger = ExecutionLedger::make(state_.executions(), state_.mark(), 2 * slots_of(options_) + kMoreRecords);
  if (ledger.ok()) {
    ledger_.emplace(std::move(*ledger));
    return absl::OkStatus();
  }
  say("running executions cannot be recorded: ", std::string(ledger.status().message()));
  unlink(state_.executions().c_str());
  return absl::OkStatus();
}

void Supervisor::listen(int fd, uint64_t key, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

int Supervisor::run() {
  while (turn()) {
  }
  return exit_code_;
}

// A turn costs a tenth of a start, and a job makes five of them. When many small ones end, turns come at most every so
// often and deal with several jobs at once; a job ends that much later at most.
void Supervisor::gather() {
  const MonoTime now = clock_.now().mono;
  const bool has_free_slots = keeper_.held_count() < slots_of(options_);
  const Duration time =
      pace_.gather_time(host_->count(), cores_, has_free_slots, kLeastGatherOfEvents, kMostGatherOfEvents, now);
  const Duration left = last_turn_ + time - now;
  if (left > Duration::zero()) pause_for(std::min(left, time));
}

bool Supervisor::turn(int timeout_ms) {
  gather();
  set_timer();
  epoll_event events[128];
  const int count = epoll_wait(epoll_.get(), events, 128, timeout_ms);
  const Now now = clock_.now();
  last_turn_ = now.mono;
  if (ledger_) ledger_->alive(now.mono);
  if (now.mono >= keeper_.next_deadline()) {
    // After a stall: first hear whether the lease was extended, then judge by it, then look at who died. Otherwise
    // what was killed because the lease had ended would pass for a crash of its own.
    on_agent(now);
    keeper_.tick(now);
    settle(now);
  }
  for (int i = 0; i < count; ++i) handle(events[i].data.u64, events[i].events, now);
  host_->resume_reading(now);
  keeper_.tick(now);
  settle(now);
  if (host_->take_output_flag() && agent_) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = write(output_ready_.get(), &one, sizeof(one));
  }
  tell_input_news();
  flush(now);
  if (!agent_ && agent_pid_ == 0 && !agent_left_ && now.mono >= launch_at_) launch_agent(now);
  leave_if_alone(now);
  return !is_over(now);
}

void Supervisor::handle(uint64_t key, uint32_t, Now now) {
  if (key >= ExecutionHost::kPipeKeys) return host_->ready(key, now);
  switch (key) {
    case kSignals: return on_signals(now);
    case kTimer:
      take_event_count(timer_.get());
      timer_set_ = kNever;
      return;
    case kSpawns: return host_->take_spawned(now);
    case kAgent: return on_agent(now);
    case kWatch: return on_watch();
    case kRoom: take_event_count(room_made_.get()); return host_->room_was_made(now);
    default: return;
  }
}

void Supervisor::on_watch() {
  ExecutionWatch::Seen seen = watch_.take();
  for (const ExecutionWatch::OverQuota& over : seen.over) host_->over_quota(over);
  if (seen.usage && agent_) agent_->put(protocol::UsageRead{std::move(*seen.usage)});
}

void Supervisor::on_signals(Now now) {
  signalfd_siginfo info[16];
  ssize_t got = 0;
  bool child = false;
  while ((got = read(signals_.get(), info, sizeof(info))) > 0) {
    for (size_t i = 0; i < static_cast<size_t>(got) / sizeof(info[0]); ++i) {
      if (info[i].ssi_signo == SIGCHLD) {
        child = true;
      } else if (!is_from_a_job(static_cast<pid_t>(info[i].ssi_pid))) {
        on_stop_signal(now);
      }
    }
  }
  if (child) reap(now);
}

void Supervisor::reap(Now now) {
  orphans_->reaping();
  while (true) {
    siginfo_t info{};
    rusage usage{};
    // The system call itself: the C library's waitid() has no rusage.
    if (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG, &usage) != 0 || info.si_pid == 0) return;
    if (info.si_pid == agent_pid_) {
      say("agent ", agent_pid_, info.si_code == CLD_EXITED ? " exited with code " : " was killed by signal ",
          info.si_status);
      orphans_->dismiss(agent_pid_);
      agent_pid_ = 0;
      agent_is_gone(now);
      continue;
    }
    pace_.note(now.mono);
    host_->reaped(info.si_pid, info.si_code, info.si_status, usage, now);
  }
}

void Supervisor::settle(Now now) {
  while (true) {
    host_->check_dying(now);
    const std::vector<KeeperAction> actions = keeper_.take_actions();
    if (actions.empty()) return;
    for (const KeeperAction& action : actions) carry_out(action, now);
  }
}

void Supervisor::carry_out(const KeeperAction& action, Now now) {
  if (const auto* spawn = std::get_if<Spawn>(&action)) {
    host_->spawn(spawn->execution, now);
  } else if (const auto* signal = std::get_if<SignalTree>(&action)) {
    host_->signal(signal->execution, signal->kill);
  } else if (const auto* started = std::get_if<TellStarted>(&action)) {
    if (!agent_) return;  // the next one finds it in the inventory
    const uint64_t ring = host_->ring_of(started->execution);
    share_ring(ring);
    agent_->put(protocol::Started{started->execution, started->at, started->pid, ring});
  } else if (const auto* exited = std::get_if<TellExited>(&action)) {
    if (agent_) agent_->put(protocol::Exited{exited->exit});
  } else if (const auto* release = std::get_if<Release>(&action)) {
    host_->release(release->execution);
  }
}

void Supervisor::set_timer() {
  MonoTime next = std::min(keeper_.next_deadline(), host_->next_check());
  if (!agent_ && agent_pid_ == 0 && !agent_left_) next = std::min(next, launch_at_);
  next = std::min(next, deliver_until_);
  if (options_.leave_after > Duration::zero() && !stopping_) next = std::min(next, look_around_at_);
  if (next == timer_set_) return;
  timer_set_ = next;
  itimerspec when{};
  if (next != kNever) {
    const int64_t us = std::max<int64_t>(next.us, 1);  // 0 would switch it off
    when.it_value = {.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace hodei::worker
