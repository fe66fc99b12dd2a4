#include "src/server/loop_core.h"

#include <algorithm>
#include <iterator>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr Duration kReloadEvery = 250ms;

absl::Status away(const absl::Status& why) {
  return absl::UnavailableError(
      cat("the store is not available (", std::string(why.message()), "); try again in a moment"));
}

void answer_all(std::vector<Waiting>& commands, const absl::Status& answer) {
  for (Waiting& w : commands) {
    if (w.reply) w.reply(answer);
  }
}

// Before the commit, which may take long: no lease is extended that this turn has decided against.
void revoke_streams(const core::Turn& turn, Heartbeats& heartbeats) {
  for (const core::Effect& effect : turn.effects) {
    if (const auto* drop = std::get_if<core::DropStream>(&effect)) heartbeats.close(drop->stream);
  }
}

absl::Status answer_to(const absl::Status& failed_commit) {
  if (!absl::IsResourceExhausted(failed_commit)) return away(failed_commit);
  return absl::ResourceExhaustedError(cat("the disk is full (", std::string(failed_commit.message()),
                                          "); free some space in the data folder and try again"));
}

}  // namespace

absl::Status LoopCore::take_over() {
  RETURN_IF_ERROR(tenure_.begin());
  return load();
}

absl::Status LoopCore::load() {
  absl::StatusOr<std::unique_ptr<core::Engine>> fresh = tenure_.load();
  heartbeats_.lead_until(tenure_.term().valid_until());
  RETURN_IF_ERROR(fresh.status());
  engine_ = *std::move(fresh);
  trouble_ = absl::OkStatus();
  stalls_.start_over();
  return absl::OkStatus();
}

bool LoopCore::has_memory(Now now) {
  if (engine_ != nullptr) {
    // A renewal that fails is tried again; until the term has run out, or another server leads, nothing is lost.
    const absl::Status renewed = tenure_.term().renew_if_due();
    heartbeats_.lead_until(tenure_.term().valid_until());
    if (deposed()) drop_memory(renewed);
    // Nobody else has committed meanwhile, or the renewal would say so: memory stays as it is.
    if (!deposed()) trouble_ = tenure_.check_term();
    return trouble_.ok();
  }
  if (deposed() || now.mono < retry_load_at_) return false;
  if (const absl::Status status = load(); !status.ok()) {
    drop_memory(status);
    retry_load_at_ = now.mono + kReloadEvery;
    return false;
  }
  outlet_.forget_streams("the server has reloaded its store; reconnect");
  const core::Turn missed = tenure_.take_missed();
  if (!missed.writes.empty()) outlet_.carry_out(missed, tenure_.epoch());
  return true;
}

// What comes before all commands: whoever is heard of in this turn is not silent in it.
void LoopCore::catch_up(Now now, core::Turn& turn) {
  const Duration stall = stalls_.stall(now.mono);
  if (stall > Duration(0)) engine_->decide(core::Stall{stall}, now, turn).IgnoreError();
  for (const core::Heartbeat& beat : heartbeats_.collect()) engine_->decide(beat, now, turn).IgnoreError();
  stops_.decide_all(*engine_, now, turn);
}

// At least one command, then as many as the time allows; returns the others.
std::vector<Waiting> LoopCore::decide(std::vector<Waiting>& commands, std::vector<absl::StatusOr<core::Reply>>& replies,
                                      Now now, core::Turn& turn) {
  replies.reserve(commands.size());
  size_t decided = 0;
  while (decided < commands.size() && (decided == 0 || clock_.now().mono - now.mono < kTurnBudget)) {
    const Waiting& next = commands[decided++];
    replies.push_back(
        engine_->decide(next.command, next.envelope == nullptr ? core::kOwnAct : *next.envelope, now, turn));
  }
  const auto rest = commands.begin() + static_cast<ptrdiff_t>(decided);
  std::vector<Waiting> left(std::make_move_iterator(rest), std::make_move_iterator(commands.end()));
  commands.erase(rest, commands.end());
  return left;
}

std::vector<Waiting> LoopCore::turn(std::vector<Waiting> commands) {
  const Now now = clock_.now();
  if (!has_memory(now)) {
    for (const Waiting& w : commands) stops_.remember(w.command);
    answer_all(commands, away(trouble_));
    return {};
  }
  core::Turn turn;
  std::vector<absl::StatusOr<core::Reply>> replies;
  catch_up(now, turn);
  std::vector<Waiting> left = decide(commands, replies, now, turn);
  if (!time_stands_ && engine_->next_wakeup() <= now.mono) engine_->decide(core::Tick{}, now, turn).IgnoreError();

  revoke_streams(turn, heartbeats_);
  const absl::Status done = turn.writes.empty() ? tenure_.check_term() : tenure_.commit(turn);
  if (!done.ok()) {
    stops_.remember(turn);
    drop_memory(done);
    answer_all(commands, answer_to(done));
    return left;
  }
  stops_.clear();
  outlet_.carry_out(turn, tenure_.epoch());
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].reply) commands[i].reply(std::move(replies[i]));
  }
  stalls_.turned(now.mono, clock_.now().mono, engine_->next_wakeup());
  return left;
}

void LoopCore::drop_memory(const absl::Status& why) {
  if (engine_ != nullptr)
    journal(Level::Error, "server", "memory is dropped, to be loaded again: ", std::string(why.message()));
  engine_ = nullptr;
  trouble_ = why;
  retry_load_at_ = MonoTime{0};
  if (!deposed()) return;
  heartbeats_.lead_until(MonoTime{0});
  outlet_.forget_streams("another server has taken over");
}

void LoopCore::resign() {
  heartbeats_.lead_until(MonoTime{0});
  tenure_.term().resign();
}

MonoTime LoopCore::next_wakeup() const {
  if (time_stands_) return kNever;
  if (engine_ == nullptr) return deposed() ? kNever : retry_load_at_;
  if (!tenure_.term().is_valid()) return tenure_.term().renew_at();
  return std::min(engine_->next_wakeup(), tenure_.term().renew_at());
}

}  // namespace hodei::server
