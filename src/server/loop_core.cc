#include "src/server/loop_core.h"

#include <algorithm>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/core/fleet/incarnation.h"

namespace hodei::server {
namespace {

constexpr Duration kStall = 1s;
constexpr Duration kReloadEvery = 250ms;

absl::Status away(const absl::Status& why) {
  return absl::UnavailableError(
      cat("the store is not available (", std::string(why.message()), "); try again in a moment"));
}

}  // namespace

LoopCore::LoopCore(store::Store& store, const Clock& clock, Outlet& outlet, Heartbeats& heartbeats,
                   core::EngineConfig config)
    : store_(store), clock_(clock), outlet_(outlet), heartbeats_(heartbeats), config_(config) {}

absl::Status LoopCore::take_over() {
  ASSIGN_OR_RETURN(epoch_, store_.new_epoch());
  ASSIGN_OR_RETURN(const store::BatchNo last, store_.last_batch());
  auto fresh = std::make_unique<core::Engine>(config_);
  RETURN_IF_ERROR(store_.load([&](const core::Write& write) { fresh->restore(write); }));
  batch_ = static_cast<uint64_t>(last);
  fresh->restored(clock_.now(),
                  retention_clock_ == nullptr ? std::nullopt : std::optional(retention_clock_->now().wall));
  engine_ = std::move(fresh);
  trouble_ = absl::OkStatus();
  last_turn_ = Duration(0);
  expected_ = kNever;
  return absl::OkStatus();
}

bool LoopCore::recover(Now now) {
  if (deposed_ || now.mono < retry_load_at_) return false;
  const absl::Status status = take_over();
  if (!status.ok()) {
    trouble_ = status;
    retry_load_at_ = now.mono + kReloadEvery;
    return false;
  }
  outlet_.forget_streams("the server has reloaded its store; reconnect");
  return true;
}

void LoopCore::note_stall(Now now, core::Turn& turn) {
  Duration stall = last_turn_ > kStall ? last_turn_ : Duration(0);
  if (expected_ != kNever && now.mono - expected_ > kStall) stall += now.mono - expected_;
  if (stall > Duration(0)) engine_->decide(core::Stall{stall}, now, turn).IgnoreError();
}

// They go first: whoever is heard of in this turn is not silent in it.
void LoopCore::collect_heartbeats(Now now, core::Turn& turn) {
  for (const core::Heartbeat& beat : heartbeats_.collect()) engine_->decide(beat, now, turn).IgnoreError();
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

// Before the commit, which may take long: no lease is extended that this turn has decided against.
void LoopCore::revoke_streams(const core::Turn& turn) {
  for (const core::Effect& effect : turn.effects) {
    if (const auto* drop = std::get_if<core::DropStream>(&effect)) heartbeats_.close(drop->stream);
  }
}

std::vector<Waiting> LoopCore::turn(std::vector<Waiting> commands) {
  const Now now = clock_.now();
  if (engine_ == nullptr && !recover(now)) {
    remember_stops(commands);
    for (Waiting& w : commands) {
      if (w.reply) w.reply(away(trouble_));
    }
    return {};
  }
  core::Turn turn;
  std::vector<absl::StatusOr<core::Reply>> replies;
  note_stall(now, turn);
  collect_heartbeats(now, turn);
  for (const auto& [worker, incarnation] : unstored_stops_) {
    engine_->decide(core::WorkerStops{worker, 0, incarnation}, now, turn).IgnoreError();
  }
  std::vector<Waiting> left = decide(commands, replies, now, turn);
  if (!time_stands_ && engine_->next_wakeup() <= now.mono) engine_->decide(core::Tick{}, now, turn).IgnoreError();

  revoke_streams(turn);
  if (!turn.writes.empty()) {
    const absl::Status done = store_.commit(turn.writes, epoch_, store::BatchNo{batch_ + 1});
    if (!done.ok()) {
      remember_stops(turn);
      commit_failed(done, commands);
      return left;
    }
    ++batch_;
    ++commits_;
  }
  unstored_stops_.clear();
  outlet_.carry_out(turn, epoch_);
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].reply) commands[i].reply(std::move(replies[i]));
  }
  const Now after = clock_.now();
  last_turn_ = after.mono - now.mono;
  expected_ = std::max(engine_->next_wakeup(), after.mono);  // a long turn is counted by its length alone
  return left;
}

// Of what was decided and is not stored.
void LoopCore::remember_stops(const core::Turn& turn) {
  for (const core::Write& write : turn.writes) {
    const auto* put = std::get_if<core::Put<core::WorkerRecord>>(&write);
    if (put == nullptr) continue;
    const core::WorkerRecord& record = *put->row;
    if (record.stopped) {
      unstored_stops_[record.info.id] = core::parse_incarnation(record.incarnation).id;
    } else {
      unstored_stops_.erase(record.info.id);
    }
  }
}

// Of what could not even be decided.
void LoopCore::remember_stops(const std::vector<Waiting>& commands) {
  for (const Waiting& waiting : commands) {
    const auto* stops = std::get_if<core::WorkerStops>(&waiting.command);
    if (stops != nullptr && !stops->incarnation.empty()) unstored_stops_[stops->worker] = stops->incarnation;
  }
}

void LoopCore::commit_failed(const absl::Status& why, std::vector<Waiting>& commands) {
  journal(Level::Error, "server", "a commit failed, reloading: ", std::string(why.message()));
  engine_ = nullptr;
  trouble_ = why;
  deposed_ = absl::IsAborted(why);
  retry_load_at_ = MonoTime{0};
  if (deposed_) {
    heartbeats_.close_for_ever();
    outlet_.forget_streams("another server has taken over");
  }
  const absl::Status answer =
      absl::IsResourceExhausted(why)
          ? absl::ResourceExhaustedError(cat("the disk is full (", std::string(why.message()),
                                             "); free some space in the data folder and try again"))
          : away(why);
  for (Waiting& w : commands) {
    if (w.reply) w.reply(answer);
  }
}

MonoTime LoopCore::next_wakeup() const {
  if (time_stands_) return kNever;
  if (engine_ == nullptr) return deposed_ ? kNever : retry_load_at_;
  return engine_->next_wakeup();
}

}  // namespace hodei::server
