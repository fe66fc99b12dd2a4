#include "src/worker/agent.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cstdlib>

#include "src/base/hash.h"
#include "src/worker/agent_launcher.h"
#include "src/worker/enclosure.h"
#include "src/worker/journal.h"
#include "src/worker/orphans.h"
#include "src/worker/stream_messages.h"

namespace hodei::worker {
namespace {

// When many small jobs end, the worker tells of them in messages this far apart: one for each would cost it, the stream
// and the server as much as starting a process does.
constexpr Duration kLeastGather = 4ms;
constexpr Duration kMostGather = 6ms;

void clear_event(int fd) {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(fd, &ignored, sizeof(ignored));
}

}  // namespace

Agent::Agent(Fd socket, const Clock& clock)
    : clock_(clock),
      supervisor_(std::move(socket)),
      inbox_(std::make_shared<LinkInbox>()),
      link_(inbox_),
      session_({}, mix64(static_cast<uint64_t>(clock.now().mono.us) ^ static_cast<uint64_t>(getpid()) << 40)),
      pump_({}, [this] {
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t wrote = write(room_made_.get(), &one, sizeof(one));
      }) {}

int Agent::run() {
  if (!open()) return 1;
  while (state_ == State::Running) {
    wait();
    const Now now = clock_.now();
    hear_supervisor(now);
    if (state_ == State::Orphaned) break;
    hear_server(now);
    // Heartbeats and leases first. What follows is bounded in each turn, whatever jobs do, so the next turn is not far.
    session_.tick(now);
    guard_against_a_hung_supervisor(now);
    settle(now);
    if (outgoing_.has_heartbeat()) send(now);
    supervisor_.flush().IgnoreError();
    hear_jobs(now.mono);
    hear_porter(now);
    hear_masks();
    if (attach_) {
      clear_event(output_ready_.get());
      pump_.look(now);
    }
    settle(now);
    send(now);
    figures_.active = session_.held_count();
    figures_.log_sent_bytes = pump_.bytes_sent();
    figures_.online = session_.online();
    supervisor_.flush().IgnoreError();  // if it is gone, the next look at the socket says so
    keep_outputs();
    answer_jobs();
  }
  link_.abandon();
  porter_.stop();
  mask_builder_.stop();
  return state_ == State::Left ? 0 : 1;
}

bool Agent::open() {
  signal(SIGPIPE, SIG_IGN);
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  porter_.start();
  mask_builder_.start();
  for (const int fd : {supervisor_.fd(), inbox_->fd(), porter_.ready_fd(), mask_builder_.ready_fd()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return false;
  }
  return true;
}

void Agent::wait() {
  MonoTime next = session_.next_deadline();
  const MonoTime earliest = may_write_at();
  if (link_.can_write() && session_.online()) next = std::min(next, std::max(pump_.next_due(), earliest));
  if (job_socket_) next = std::min(next, next_report_due(earliest));
  if (link_.can_write() && has_outgoing_) next = std::min(next, earliest);
  if (pings_ != pongs_ && pings_ != killed_at_ping_) next = std::min(next, std::max(lease_until_, ping_sent_ + 1s));
  if (!staged_.empty() && lease_until_ > MonoTime{0}) next = std::min(next, lease_until_);
  const MonoTime now = clock_.now().mono;
  timespec timeout{};
  timespec* limit = nullptr;
  if (next != kNever) {
    const int64_t us = std::max<int64_t>((next - now).count(), 0);
    timeout = {.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
    limit = &timeout;
  }
  epoll_event events[8];
  // Suspended time does not count in this time-out; that costs at most a late heartbeat after a suspend.
  const int count = epoll_pwait2(epoll_.get(), events, 8, limit, nullptr);
  for (int i = 0; i < count; ++i) jobs_speak_ = jobs_speak_ || events[i].data.u64 == kJobs;
}

void Agent::settle(Now now) {
  while (true) {
    std::vector<SessionAction> actions = session_.take_actions();
    if (actions.empty()) return;
    for (SessionAction& action : actions) {
      std::visit([&](auto& each) { act(each, now); }, action);
    }
  }
}

MonoTime Agent::may_write_at() {
  if (!attach_) return MonoTime{0};
  const bool has_free_slots = session_.held_count() < slots_of(attach_->options);
  return last_write_ + pace_.gather_time(session_.unfinished_count(), cores_, has_free_slots, kLeastGather, kMostGather,
                                         clock_.now().mono);
}

void Agent::send(Now now) {
  if (!link_.can_write() || now.mono < may_write_at()) return;
  if (session_.online()) {
    for (LogPart& part : pump_.take(now)) {
      const ExecutionId execution = part.execution;
      const bool end = part.end;
      // That nothing was printed is in the result; the server need not store it a second time.
      if (part.offset + part.data.size() > 0) {
        put_log(std::move(part), outgoing_);
        has_outgoing_ = true;
      }
      if (!end) continue;
      // The receiver reads logs before results: the result may go into the same message.
      session_.log_flushed(execution);
      if (pump_.all_acked(execution)) session_.log_durable(execution);
    }
    put_due_progress(now);
    settle(now);
  }
  if (!has_outgoing_ || !link_.can_write()) return;
  has_outgoing_ = false;
  link_.write(std::exchange(outgoing_, {}));
  last_write_ = now.mono;
}

void Agent::hear_supervisor(Now now) {
  absl::StatusOr<std::vector<Channel::Received>> received = supervisor_.receive();
  if (!received.ok()) {
    // Without it nothing here is worth anything: jobs are its children, and its successor will start its own agent.
    say("the supervisor is gone: ", std::string(received.status().message()));
    state_ = State::Orphaned;
    return;
  }
  for (Channel::Received& each : *received) on_message(each, now);
}

void Agent::on_message(Channel::Received& received, Now now) {
  if (std::holds_alternative<protocol::Attach>(received.message)) {
    on_attach(received, now);
  } else if (auto* shared = std::get_if<protocol::RingShared>(&received.message)) {
    absl::StatusOr<RingMemory> memory = RingMemory::open(std::move(received.descriptors[0]));
    if (!memory.ok()) return say("a ring cannot be used: ", std::string(memory.status().message()));
    memory->close_fd();
    rings_.insert_or_assign(shared->ring, std::move(*memory));
  } else if (auto* started = std::get_if<protocol::Started>(&received.message)) {
    follow_output(started->execution, ring(started->ring));
    session_.started(started->execution, started->at, started->pid);
    ++figures_.started;
  } else if (auto* exited = std::get_if<protocol::Exited>(&received.message)) {
    if (!session_.holds(exited->exit.execution)) return;
    pump_.ended(exited->exit.execution, static_cast<uint64_t>(exited->exit.log_bytes));
    pace_.note(now.mono);
    note_exit(exited->exit);
    if (!hold_back(exited->exit)) session_.exited(exited->exit);
  } else if (auto* pong = std::get_if<protocol::Pong>(&received.message)) {
    pongs_ = pong->number;
    dropped_lines_ = pong->dropped_lines;
  } else if (auto* usage = std::get_if<protocol::UsageRead>(&received.message)) {
    usage_.store(usage->executions);
  } else if (std::holds_alternative<protocol::Stop>(received.message)) {
    session_.stop_gracefully(now);  // first: its word must go before what comes of it
    end_preparing(now);
  }
}

void Agent::on_attach(Channel::Received& received, Now now) {
  attach_ = std::move(std::get<protocol::Attach>(received.message));
  if (attach_->version != protocol::kVersion) {
    say("the supervisor speaks version ", attach_->version, " of the protocol, this agent ", protocol::kVersion);
    state_ = State::Orphaned;
    return;
  }
  output_ready_ = std::move(received.descriptors[0]);
  room_made_ = std::move(received.descriptors[1]);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, output_ready_.get(), &event);
  open_job_socket();
  pump_.set_batches(attach_->options.log_batch_lines, attach_->options.log_batch_interval);
  session_id_ = attach_->session_id;
  std::vector<Held> inventory;
  for (const protocol::HeldRing& each : attach_->held) {
    if (!each.keepsake.empty()) kept_[each.held.execution] = decode_keepsake(each.keepsake);
    ask_mask(each.held.execution);
    follow_output(each.held.execution, ring(each.ring));
    if (each.held.ended) pump_.ended(each.held.execution, static_cast<uint64_t>(each.held.exit.log_bytes));
    inventory.push_back(each.held);
    recall_end(inventory.back());
  }
  remove_leftover_folders();
  session_.attached(inventory, now);
  const std::string& address = attach_->options.metrics_listen;
  if (address.empty() || address == "off") return;
  metrics_.emplace(figures_, clock_);
  const absl::Status listens = metrics_->start(address);
  if (listens.ok()) return;
  say(std::string(listens.message()));
  metrics_.reset();
}

void Agent::note_exit(const Exit& exit) {
  ++figures_.ended[static_cast<size_t>(exit.outcome)];
  figures_.log_dropped_bytes += static_cast<uint64_t>(exit.facts.dropped_bytes);
  const auto trace = traces_.find(exit.execution);
  if (trace == traces_.end()) return;
  journal(Level::Debug, "worker", "execution=", to_string(exit.execution), " trace=", trace->second,
          " ended exit_code=", exit.exit_code, " signal=", exit.signal, " failure=", exit.failure);
  traces_.erase(trace);
}

RingMemory* Agent::ring(uint64_t number) {
  const auto it = rings_.find(number);
  return it == rings_.end() ? nullptr : &it->second;
}

// If the supervisor hangs it cannot end the jobs when the lease ends. Then nobody else can but us.
void Agent::guard_against_a_hung_supervisor(Now now) {
  if (pings_ == pongs_ || pings_ == killed_at_ping_) return;
  if (now.mono < lease_until_ || now.mono < ping_sent_ + 1s) return;
  killed_at_ping_ = pings_;
  if (session_.held_count() == 0) return;
  say("the supervisor does not answer and the lease has ended: killing all jobs");
  if (!attach_->cgroup.empty()) kill_cgroup_tree(attach_->cgroup);
  kill_marked(attach_->mark);
  // What has left its cgroup and wiped its environment still descends from the supervisor.
  if (const pid_t supervisor = supervisor_.peer(); supervisor == getppid()) kill_descendants(supervisor, getpid());
}

}  // namespace hodei::worker
