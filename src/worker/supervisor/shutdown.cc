#include "src/worker/supervisor/shutdown.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "src/base/counted.h"
#include "src/worker/system/journal.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker {
namespace {

constexpr Duration kDeliveryTime = 5s;
constexpr Duration kLookAround = 15s;
constexpr Duration kKeepResults = std::chrono::hours(24);
constexpr Duration kTimeToEnd = 1s;  // of jobs that were told to, before a second signal kills them

bool descends_from_us(pid_t pid) {
  const pid_t self = getpid();
  if (pid == self) return false;
  for (pid_t at = pid; at > 1;) {
    const std::optional<ProcessState> state = state_of(at);
    if (!state) return false;
    if (state->parent == self) return true;
    at = state->parent;
  }
  return false;
}

}  // namespace

void Shutdown::on_signal(pid_t sender, Now now) {
  if (!is_from_a_job(sender)) stop_faster(now);
}

// A job must not stop the worker that runs it, and with it its neighbours. One that is gone before we look is taken at
// its word: the server counts how often a job is interrupted.
bool Shutdown::is_from_a_job(pid_t sender) {
  if (sender <= 0 || !descends_from_us(sender)) return false;
  if (std::has_single_bit(++ignored_signals_)) {
    say("a process of a job (", sender, ") sent this worker a stop signal, which is ignored, ", ignored_signals_,
        " so far");
  }
  return true;
}

// The first lets what runs end within the grace time, the second ends it in good order, the third kills it.
void Shutdown::stop_faster(Now now) {
  const size_t running = parts_.keeper.alive_count();
  const std::string what = hodei::counted(running, "execution");
  const Duration grace = parts_.options.stop_grace;
  switch (++signals_) {
    case 1:
      if (running == 0) {
        say("stopping; nothing is running");
      } else {
        say("stopping: ", what, " may finish within ", grace.count() / 1'000'000,
            " s; whatever is unfinished then is stopped and runs again; a second signal stops it now");
      }
      return begin(0, grace, now);
    case 2:
      if (now.mono < until_ + kTimeToEnd) {
        if (running > 0) say("stopping ", what, " now, to run again later; a third signal kills");
        return begin(0, Duration(0), now);
      }
      // They were told to end when the grace time was over, and have not.
      [[fallthrough]];
    default:
      if (running > 0) say("killing ", what);
      parts_.keeper.stop_at_once();
      if (deliver_until_ != kNever) deliver_until_ = now.mono;
  }
}

void Shutdown::begin(int exit_code, Duration grace, Now now) {
  if (!begun_) {
    begun_ = true;
    exit_code_ = exit_code;
    // This goes first: the server must know about the stop before it gets refused orders.
    parts_.agent.put(protocol::Stop{});
  }
  until_ = now.mono + grace;
  if (deliver_until_ != kNever) deliver_until_ = std::min(deliver_until_, until_ + kDeliveryTime);
  parts_.keeper.stop_gracefully(grace, now);
}

// The server may have been killed and its folder removed long ago; then nobody would ever end this worker.
void Shutdown::leave_if_alone(Now now) {
  const Duration leave_after = parts_.options.leave_after;
  if (leave_after <= Duration::zero() || begun_ || now.mono < look_around_at_) return;
  look_around_at_ = now.mono + std::min(kLookAround, leave_after);
  if (!parts_.state.is_there()) {
    say("the state folder ", parts_.options.state_dir, " is gone: exiting");
    return begin(0, Duration(0), now);
  }
  // Results that nobody has taken yet are kept for a server that is away for longer.
  const Duration patience = parts_.keeper.held_count() == 0 ? leave_after : std::max(leave_after, kKeepResults);
  if (!parts_.host->running().empty() || now.mono - server_heard_ < patience) return;
  say("no server has answered for ", patience / 1s, " s and nothing is running: exiting");
  begin(0, Duration(0), now);
}

bool Shutdown::is_over(Now now) {
  if (!begun_ || parts_.host->running().has_living_trees()) return false;
  if (deliver_until_ == kNever) deliver_until_ = std::max(now.mono + kDeliveryTime, until_);
  if (now.mono < deliver_until_ && !agent_left_) return false;
  parts_.host->give_up_output(now);
  records_.leave(parts_.keeper, parts_.notes, parts_.rings, [this] { return parts_.agent.end(parts_.clock); });
  parts_.agent.kill();
  parts_.machine.enclosures->remove_all();
  if (parts_.machine.groups) parts_.machine.groups->remove_all();
  parts_.state.leave();
  return true;
}

MonoTime Shutdown::next_due() const {
  const bool looks_around = parts_.options.leave_after > Duration::zero() && !begun_;
  return looks_around ? std::min(deliver_until_, look_around_at_) : deliver_until_;
}

}  // namespace hodei::worker
