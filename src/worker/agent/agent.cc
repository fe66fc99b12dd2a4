#include "src/worker/agent/agent.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "src/base/hash.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

void clear_event(int fd) {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(fd, &ignored, sizeof(ignored));
}

uint64_t seed_of(const Clock& clock) {
  return mix64(static_cast<uint64_t>(clock.now().mono.us) ^ static_cast<uint64_t>(getpid()) << 40);
}

}  // namespace

int run_agent(Fd socket, const Clock& clock) {
  signal(SIGPIPE, SIG_IGN);
  SupervisorLink supervisor(std::move(socket));
  if (const absl::Status attached = supervisor.await_attach(); !attached.ok()) {
    say(std::string(attached.message()));
    return 1;
  }
  return Agent(supervisor, clock).run();
}

AgentParts::AgentParts(SupervisorLink& link, const Clock& its_clock, uint64_t seed)
    : clock(its_clock),
      supervisor(link),
      session({}, seed),
      masks(notes),
      pump({}, [&link] { link.room_was_made(); }),
      processes(link, notes),
      runner(processes, {.transfers = transfers, .notes = notes, .folder = stage_folder(options().state_dir)}),
      flow(session, pump, runner, masks),
      reports(session, masks, notes),
      pace(slots_of(options())) {}

Agent::Agent(SupervisorLink& supervisor, const Clock& clock)
    : parts_(supervisor, clock, seed_of(clock)), server_(parts_), executions_(parts_) {}

int Agent::run() {
  if (!open()) return 1;
  while (!server_.has_left() && !executions_.is_orphaned()) {
    turn(parts_.clock.now());
    if (!server_.has_left() && !executions_.is_orphaned()) wait();
  }
  server_.hang_up();
  parts_.transfers.stop();
  parts_.masks.stop();
  return server_.has_left() ? 0 : 1;
}

bool Agent::open() {
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  parts_.transfers.start();
  parts_.masks.start();
  const protocol::Attach& attach = parts_.supervisor.attach();
  parts_.reports.open(attach.job_socket, attach.job_socket_secret);
  parts_.pump.set_batches(attach.options.log_batch_lines, attach.options.log_batch_interval);
  std::vector<int> fds = parts_.runner.ready_fds();
  fds.insert(fds.end(), {parts_.supervisor.output_ready_fd(), server_.ready_fd(), parts_.masks.ready_fd()});
  for (const int fd : fds) {
    if (!listen(fd, kLoop)) return false;
  }
  if (parts_.reports.fd() >= 0 && !listen(parts_.reports.fd(), kJobs)) return false;
  serve_metrics();
  return true;
}

bool Agent::listen(int fd, Key key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Agent::serve_metrics() {
  const std::string& address = parts_.options().metrics_listen;
  if (address.empty() || address == "off") return;
  metrics_.emplace(parts_.figures, parts_.clock);
  const absl::Status listens = metrics_->start(address);
  if (listens.ok()) return;
  say(std::string(listens.message()));
  metrics_.reset();
}

void Agent::turn(Now now) {
  parts_.runner.look(now);
  executions_.hear(now);
  if (executions_.is_orphaned()) return;
  server_.hear(now);
  // Heartbeats and leases first. What follows is bounded in each turn, whatever jobs do, so the next turn is not far.
  parts_.session.tick(now);
  settle(now);
  if (parts_.outgoing.message.has_heartbeat()) send(now);
  parts_.runner.flush();
  parts_.runner.tick(now);
  parts_.reports.hear(now.mono, std::exchange(jobs_speak_, false));
  executions_.hear_masks();
  clear_event(parts_.supervisor.output_ready_fd());
  parts_.pump.look(now);
  settle(now);
  send(now);
  parts_.figures.active = parts_.session.held_count();
  parts_.figures.log_sent_bytes = parts_.pump.bytes_sent();
  parts_.figures.online = parts_.session.online();
  parts_.runner.flush();
  parts_.reports.keep_outputs(parts_.runner);
  parts_.reports.answer(parts_.runner);
}

void Agent::wait() {
  const MonoTime next = next_due();
  timespec timeout{};
  timespec* limit = nullptr;
  if (next != kNever) {
    const int64_t us = std::max<int64_t>((next - parts_.clock.now().mono).count(), 0);
    timeout = {.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
    limit = &timeout;
  }
  epoll_event events[8];
  // Suspended time does not count in this time-out; that costs at most a late heartbeat after a suspend.
  const int count = epoll_pwait2(epoll_.get(), events, 8, limit, nullptr);
  for (int i = 0; i < count; ++i) jobs_speak_ = jobs_speak_ || events[i].data.u64 == kJobs;
}

MonoTime Agent::next_due() {
  const MonoTime now = parts_.clock.now().mono;
  const MonoTime earliest = parts_.pace.may_write_at(parts_.session, now);
  const bool can_tell = server_.can_write() && parts_.session.online();
  MonoTime next = std::min(parts_.session.next_deadline(), parts_.runner.next_due());
  if (can_tell) next = std::min(next, std::max(parts_.pump.next_due(), earliest));
  if (server_.can_write() && parts_.outgoing.has_any) next = std::min(next, earliest);
  return std::min(next, parts_.reports.next_due(now, can_tell, earliest));
}

void Agent::settle(Now now) {
  while (true) {
    executions_.hear(now);
    std::vector<SessionAction> actions = parts_.session.take_actions();
    if (actions.empty()) return;
    for (SessionAction& action : actions) {
      std::visit(
          [&](auto& each) {
            if constexpr (requires { executions_.act(each, now); }) {
              executions_.act(each, now);
            } else {
              server_.act(each, now);
            }
          },
          action);
    }
  }
}

void Agent::send(Now now) {
  if (!server_.can_write() || now.mono < parts_.pace.may_write_at(parts_.session, parts_.clock.now().mono)) return;
  if (parts_.session.online()) {
    executions_.put_output(now);
    settle(now);
  }
  server_.write(now);
}

}  // namespace hodei::worker
