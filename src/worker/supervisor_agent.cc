// The supervisor's side of the agent: starting it, attaching it, hearing it, replacing it.
#include <signal.h>
#include <sys/epoll.h>

#include "src/worker/journal.h"
#include "src/worker/supervisor.h"

namespace hodei::worker {
namespace {

constexpr Duration kLongLife = 10s;  // an agent that lived this long is replaced at once
constexpr Duration kMaxRelaunchWait = 5s;
constexpr int kTriesOfNewest = 3;  // then our own binary, until an agent lives long

}  // namespace

void Supervisor::launch_agent(Now now) {
  launched_at_ = now.mono;
  // A newer binary may be of no use to us; the one that we run ourselves certainly is.
  const bool newest_fails = quick_deaths_ >= kTriesOfNewest;
  absl::StatusOr<LaunchedAgent> launched = launcher_.launch(newest_fails ? AgentBinary::Own : AgentBinary::Newest);
  if (!launched.ok()) {
    say(std::string(launched.status().message()));
    return agent_is_gone(now);
  }
  agent_pid_ = launched->pid;
  if (agent_pid_ != 0) orphans_->expect(agent_pid_);
  agent_.emplace(std::move(launched->socket));
  listen(agent_->fd(), kAgent);
  state_.note_agent(agent_pid_);
  attach(now);
}

// Everything that the new agent must know: what is held, and the rings that its predecessor had not finished.
void Supervisor::attach(Now now) {
  rings_.new_agent();
  protocol::Attach hello;
  hello.incarnation = state_.incarnation();
  hello.lineage = state_.lineage();
  hello.generation = state_.generation();
  hello.session_id = state_.session();
  hello.cgroup = enclosures_->cgroup();
  hello.mark = state_.mark();
  hello.options = options_;
  for (Held& held : keeper_.inventory()) {
    const uint64_t ring = host_->ring_of(held.execution);
    const auto kept = keepsakes_.find(held.execution);
    const InputFeeder* input = host_->input_of(held.execution);
    hello.held.push_back({.held = std::move(held),
                          .ring = ring,
                          .keepsake = kept == keepsakes_.end() ? std::string() : kept->second,
                          .has_input = input != nullptr && !input->is_done(),
                          .input_at = input == nullptr ? 0 : input->given()});
  }
  hello.job_socket = socket_folder_.socket();
  hello.job_socket_secret = socket_secret_;
  hello.stopped = stopped_before_;
  for (const protocol::HeldRing& held : hello.held) share_ring(held.ring);
  agent_->put(hello, {output_ready_.get(), room_made_.get()});
  if (stopping_) agent_->put(protocol::Stop{});
  flush(now);
}

void Supervisor::share_ring(uint64_t ring) {
  if (ring == 0 || !rings_.note_shared(ring)) return;
  agent_->put(protocol::RingShared{ring}, {rings_.memory(ring)->fd()});
}

// A child is replaced once it is reaped; one that closed its socket but lives on is of no use.
void Supervisor::drop_channel(Now now) {
  hear_last_words(now);
  agent_.reset();  // closing it takes it out of epoll
  agent_writable_watched_ = false;
  if (agent_pid_ != 0) {
    kill(agent_pid_, SIGKILL);
  } else {
    agent_is_gone(now);
  }
}

// A dead agent may have told jobs that what they reported is kept: that counts, though we saw its death first.
void Supervisor::hear_last_words(Now now) {
  if (!agent_) return;
  absl::StatusOr<std::vector<Channel::Received>> received = agent_->receive();
  if (!received.ok()) return;
  for (Channel::Received& each : *received) on_message(each.message, now);
}

void Supervisor::agent_is_gone(Now now) {
  hear_last_words(now);
  agent_.reset();
  agent_writable_watched_ = false;
  state_.note_agent(0);
  const bool lived_long = now.mono - launched_at_ >= kLongLife;
  quick_deaths_ = lived_long ? 0 : quick_deaths_ + 1;
  const Duration wait = std::min<Duration>(kMaxRelaunchWait, 50ms * (1 << std::min(quick_deaths_, 10)));
  launch_at_ = now.mono + (quick_deaths_ <= 1 ? Duration::zero() : wait);
}

void Supervisor::on_agent(Now now) {
  if (!agent_) return;
  absl::StatusOr<std::vector<Channel::Received>> received = agent_->receive();
  if (!received.ok()) return drop_channel(now);
  for (Channel::Received& each : *received) on_message(each.message, now);
}

void Supervisor::on_message(protocol::Message& message, Now now) {
  if (auto* start = std::get_if<protocol::Start>(&message)) {
    const StartOrder order{
        .execution = start->execution, .timeout = start->program.timeout, .grace = start->program.grace};
    host_->offer(start->execution, std::move(start->program));
    keeper_.start(order, now);
    if (!start->keepsake.empty() && keeper_.holds(start->execution)) {
      keepsakes_.try_emplace(start->execution, std::move(start->keepsake));
    }
    settle(now);
    host_->withdraw_offer();
  } else if (const auto* kill = std::get_if<protocol::Kill>(&message)) {
    keeper_.kill(kill->execution, kill->why, kill->grace, now);
  } else if (const auto* lease = std::get_if<protocol::ValidUntil>(&message)) {
    keeper_.extend_lease(lease->until);
    server_heard_ = now.mono;
    welcomed_ = true;
    drop_last_words_if_told();
  } else if (const auto* forget = std::get_if<protocol::Forget>(&message)) {
    keeper_.forget(forget->execution);
    keepsakes_.erase(forget->execution);
    if (adopted_.erase(forget->execution) > 0) drop_last_words_if_told();
  } else if (auto* keep = std::get_if<protocol::Keep>(&message)) {
    if (keeper_.holds(keep->execution)) keepsakes_[keep->execution] = std::move(keep->keepsake);
  } else if (const auto* ping = std::get_if<protocol::Ping>(&message)) {
    if (agent_) agent_->put(protocol::Pong{ping->number, host_->dropped_lines()});
  } else if (std::holds_alternative<protocol::AskUsage>(message)) {
    watch_.measure(host_->running_trees());
  } else if (const auto* input = std::get_if<protocol::Input>(&message)) {
    host_->take_input(*input);
  } else if (const auto* registered = std::get_if<protocol::Registered>(&message)) {
    if (absl::Status stored = state_.store_session(registered->session_id); !stored.ok()) {
      say("the session is not stored: ", std::string(stored.message()));
    }
  } else if (const auto* left = std::get_if<protocol::Left>(&message)) {
    journal(left->turned_away ? Level::Error : Level::Info, "worker",
            left->turned_away ? "this worker cannot join and ends: " : "the agent left: ", left->reason);
    agent_left_ = true;
    begin_stop(left->turned_away ? 3 : 0, Duration(0), now);
  }
}

void Supervisor::tell_input_news() {
  if (!agent_) return;  // the next one finds how far it is in the inventory
  for (protocol::InputTaken& taken : host_->input_news()) agent_->put(std::move(taken));
}

void Supervisor::flush(Now now) {
  if (!agent_) return;
  if (absl::Status sent = agent_->flush(); !sent.ok()) {
    say("the agent does not listen: ", std::string(sent.message()));
    return drop_channel(now);
  }
  if (agent_->wants_to_write() == agent_writable_watched_) return;
  agent_writable_watched_ = !agent_writable_watched_;
  epoll_event event{};
  event.events = EPOLLIN | (agent_writable_watched_ ? static_cast<uint32_t>(EPOLLOUT) : 0);
  event.data.u64 = kAgent;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, agent_->fd(), &event);
}

}  // namespace hodei::worker
