#include "src/worker/supervisor/agent_process.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "src/base/pause.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr Duration kLongLife = 10s;  // an agent that lived this long is replaced at once
constexpr Duration kMaxRelaunchWait = 5s;
constexpr int kTriesOfNewest = 3;     // then our own binary, until an agent lives long
constexpr Duration kAgentDeath = 2s;  // from SIGKILL; it may have much memory to give back

}  // namespace

void AgentProcess::open(std::shared_ptr<Orphans> orphans, Handler handler) {
  orphans_ = std::move(orphans);
  handler_ = std::move(handler);
}

MonoTime AgentProcess::launch_due() const { return channel_ || pid_ != 0 ? kNever : launch_at_; }

bool AgentProcess::launch(Now now) {
  launched_at_ = now.mono;
  // A newer binary may be of no use to us; the one that we run ourselves certainly is.
  const bool newest_fails = quick_deaths_ >= kTriesOfNewest;
  absl::StatusOr<LaunchedAgent> launched = launcher_.launch(newest_fails ? AgentBinary::Own : AgentBinary::Newest);
  if (!launched.ok()) {
    say(std::string(launched.status().message()));
    is_gone(now);
    return false;
  }
  pid_ = launched->pid;
  if (pid_ != 0) orphans_->expect(pid_);
  channel_.emplace(std::move(launched->socket));
  events_.listen(channel_->fd(), SupervisorEvents::kAgent);
  state_.note_agent(pid_);
  return true;
}

void AgentProcess::put(const protocol::Message& message, const std::vector<int>& descriptors) {
  if (channel_) channel_->put(message, descriptors);
}

void AgentProcess::hear(Now now) {
  if (!channel_) return;
  absl::StatusOr<std::vector<Channel::Received>> received = channel_->receive();
  if (!received.ok()) return drop_channel(now);
  for (Channel::Received& each : *received) handler_(each.message, now);
}

// A dead agent may have told jobs that what they reported is kept: that counts, though we saw its death first.
void AgentProcess::hear_rest(Now now) {
  if (!channel_) return;
  absl::StatusOr<std::vector<Channel::Received>> received = channel_->receive();
  if (!received.ok()) return;
  for (Channel::Received& each : *received) handler_(each.message, now);
}

// A child is replaced once it is reaped; one that closed its socket but lives on is of no use.
void AgentProcess::drop_channel(Now now) {
  hear_rest(now);
  channel_.reset();  // closing it takes it out of epoll
  waits_for_room_ = false;
  if (pid_ != 0) {
    kill();
  } else {
    is_gone(now);
  }
}

void AgentProcess::is_gone(Now now) {
  hear_rest(now);
  channel_.reset();
  waits_for_room_ = false;
  state_.note_agent(0);
  const bool lived_long = now.mono - launched_at_ >= kLongLife;
  quick_deaths_ = lived_long ? 0 : quick_deaths_ + 1;
  const Duration wait = std::min<Duration>(kMaxRelaunchWait, 50ms * (1 << std::min(quick_deaths_, 10)));
  launch_at_ = now.mono + (quick_deaths_ <= 1 ? Duration::zero() : wait);
}

void AgentProcess::flush(Now now) {
  if (!channel_) return;
  if (absl::Status sent = channel_->flush(); !sent.ok()) {
    say("the agent does not listen: ", std::string(sent.message()));
    return drop_channel(now);
  }
  if (channel_->wants_to_write() == waits_for_room_) return;
  waits_for_room_ = !waits_for_room_;
  events_.listen_to_room(channel_->fd(), SupervisorEvents::kAgent, waits_for_room_);
}

bool AgentProcess::reaped(const siginfo_t& info, Now now) {
  if (info.si_pid != pid_) return false;
  say("agent ", pid_, info.si_code == CLD_EXITED ? " exited with code " : " was killed by signal ", info.si_status);
  orphans_->dismiss(pid_);
  pid_ = 0;
  is_gone(now);
  return true;
}

void AgentProcess::kill() const {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

bool AgentProcess::end(const Clock& clock) {
  if (pid_ == 0) return true;
  kill();
  const MonoTime patience = clock.now().mono + kAgentDeath;
  while (clock.now().mono < patience) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) != 0 || info.si_pid == pid_) {
      pid_ = 0;
      return true;
    }
    pause_for(1ms);
  }
  return false;
}

}  // namespace hodei::worker
