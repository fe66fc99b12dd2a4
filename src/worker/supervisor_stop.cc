// The end of a supervisor: signals that ask for it, how long what runs may take, and the words that it leaves behind.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>

#include "src/base/counted.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/journal.h"
#include "src/worker/last_output.h"
#include "src/worker/last_words.h"
#include "src/worker/process_table.h"
#include "src/worker/supervisor.h"

namespace hodei::worker {
namespace {

constexpr Duration kDeliveryTime = 5s;
constexpr Duration kAgentDeath = 2s;  // from SIGKILL; it may have much memory to give back
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

// A job must not stop the worker that runs it, and with it its neighbours. One that is gone before we look is taken at
// its word: the server counts how often a job is interrupted.
bool Supervisor::is_from_a_job(pid_t sender) {
  if (sender <= 0 || !descends_from_us(sender)) return false;
  if (std::has_single_bit(++ignored_signals_)) {
    say("a process of a job (", sender, ") sent this worker a stop signal, which is ignored, ", ignored_signals_,
        " so far");
  }
  return true;
}

void Supervisor::recall_last_words() {
  const std::string bytes = state_.last_words();
  if (bytes.empty()) return;
  has_last_words_ = true;
  const std::optional<LastWords> words = decode_last_words(bytes);
  if (!words) return say("the records of the last supervisor cannot be read");
  stopped_before_ = words->stopped;
  const std::optional<LastOutput> output = decode_last_output(state_.last_output());
  for (const Exit& exit : words->exits) {
    keeper_.adopt(exit);
    adopted_.insert(exit.execution);
    if (output && output->contains(exit.execution)) host_->adopt_output(exit.execution, output->at(exit.execution));
  }
  if (!adopted_.empty()) say("still to be reported to a server: ", hodei::counted(adopted_.size(), "result"));
}

// When a server has heard them.
void Supervisor::drop_last_words_if_told() {
  if (!has_last_words_ || !welcomed_ || !adopted_.empty() || stopping_) return;
  has_last_words_ = false;
  state_.drop_last_words();
}

// The server may be away, or have no room to store what it is told.
void Supervisor::leave_last_words() {
  if (!state_.is_there()) return;
  LastWords words{.stopped = stopped_before_};
  words.stopped.push_back(state_.incarnation());
  if (words.stopped.size() > LastWords::kMaxStopped) words.stopped.erase(words.stopped.begin());
  for (const Held& held : keeper_.inventory()) {
    if (!held.ended) continue;
    const auto kept = keepsakes_.find(held.execution);
    words.exits.push_back(kept == keepsakes_.end() ? held.exit : last_word(held.exit, decode_keepsake(kept->second)));
  }
  if (!words.exits.empty()) {
    say("no server has acknowledged the results of ", hodei::counted(words.exits.size(), "execution"),
        "; the next start reports them");
  }
  leave_last_output(words);  // first: whoever finds the words finds it too
  if (absl::Status stored = state_.store_last_words(encode(words)); !stored.ok()) {
    say("unreported results are lost: ", std::string(stored.message()));
  }
}

void Supervisor::leave_last_output(const LastWords& words) {
  LastOutput output;
  size_t room = kMaxLastOutput;
  const bool alone = end_agent();
  for (const Exit& exit : words.exits) {
    RingMemory* ring = host_->output_of(exit.execution);
    if (ring == nullptr) continue;
    const auto kept = keepsakes_.find(exit.execution);
    const Keepsake keepsake = kept == keepsakes_.end() ? Keepsake() : decode_keepsake(kept->second);
    // An agent that is about to mask a secret has masked half of it.
    if (!alone && !keepsake.secrets.empty()) continue;
    std::vector<OutputRecord> records =
        unsent_output(*ring, keepsake.secrets, static_cast<uint64_t>(exit.log_bytes), room);
    if (!records.empty()) output[exit.execution] = std::move(records);
  }
  if (output.empty()) return state_.drop_last_output();
  if (absl::Status stored = state_.store_last_output(encode(output)); !stored.ok()) {
    say("output that was not sent is lost: ", std::string(stored.message()));
    state_.drop_last_output();
  }
}

bool Supervisor::end_agent() {
  if (agent_pid_ == 0) return true;
  kill(agent_pid_, SIGKILL);
  const MonoTime patience = clock_.now().mono + kAgentDeath;
  while (clock_.now().mono < patience) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(agent_pid_), &info, WEXITED | WNOHANG) != 0 || info.si_pid == agent_pid_) {
      agent_pid_ = 0;
      return true;
    }
    pause_for(1ms);
  }
  return false;
}

// The first lets what runs end within the grace time, the second ends it in good order, the third kills it.
void Supervisor::on_stop_signal(Now now) {
  const size_t running = keeper_.alive_count();
  const std::string what = hodei::counted(running, "execution");
  switch (++stop_signals_) {
    case 1:
      if (running == 0) {
        say("stopping; nothing is running");
      } else {
        say("stopping: ", what, " may finish within ", options_.stop_grace.count() / 1'000'000,
            " s; whatever is unfinished then is stopped and runs again; a second signal stops it now");
      }
      return begin_stop(0, options_.stop_grace, now);
    case 2:
      if (now.mono < stop_until_ + kTimeToEnd) {
        if (running > 0) say("stopping ", what, " now, to run again later; a third signal kills");
        return begin_stop(0, Duration(0), now);
      }
      // They were told to end when the grace time was over, and have not.
      [[fallthrough]];
    default:
      if (running > 0) say("killing ", what);
      keeper_.stop_at_once();
      if (deliver_until_ != kNever) deliver_until_ = now.mono;
  }
}

void Supervisor::begin_stop(int exit_code, Duration grace, Now now) {
  if (!stopping_) {
    stopping_ = true;
    exit_code_ = exit_code;
    // Before what comes of it: the server must know why before it hears that orders are refused.
    if (agent_) agent_->put(protocol::Stop{});
  }
  stop_until_ = now.mono + grace;
  if (deliver_until_ != kNever) deliver_until_ = std::min(deliver_until_, stop_until_ + kDeliveryTime);
  keeper_.stop_gracefully(grace, now);
}

// The server may have been killed and its folder removed long ago; then nobody would ever end this worker.
void Supervisor::leave_if_alone(Now now) {
  if (options_.leave_after <= Duration::zero() || stopping_ || now.mono < look_around_at_) return;
  look_around_at_ = now.mono + std::min(kLookAround, options_.leave_after);
  if (!state_.is_there()) {
    say("the state folder ", options_.state_dir, " is gone: exiting");
    return begin_stop(0, Duration(0), now);
  }
  // Results that nobody has taken yet are kept for a server that is away for longer.
  const Duration patience =
      keeper_.held_count() == 0 ? options_.leave_after : std::max(options_.leave_after, kKeepResults);
  if (!host_->empty() || now.mono - server_heard_ < patience) return;
  say("no server has answered for ", patience / 1s, " s and nothing is running: exiting");
  begin_stop(0, Duration(0), now);
}

bool Supervisor::is_over(Now now) {
  if (!stopping_ || host_->has_living_trees()) return false;
  if (deliver_until_ == kNever) deliver_until_ = std::max(now.mono + kDeliveryTime, stop_until_);
  if (now.mono < deliver_until_ && !agent_left_) return false;
  host_->give_up_output(now);
  leave_last_words();
  if (agent_pid_ != 0) kill(agent_pid_, SIGKILL);
  enclosures_->remove_all();
  if (groups_) groups_->remove_all();
  state_.leave();
  return true;
}

}  // namespace hodei::worker
