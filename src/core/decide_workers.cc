// Tokens, sessions, streams.
#include <algorithm>

#include "src/base/counted.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/core/engine.h"

namespace hodei::core {
namespace {

// One text for every way in which a token can be wrong: a guesser learns nothing.
absl::Status refused() {
  return absl::UnauthenticatedError(
      "auth_token: not valid (wrong, used or expired); create a new one with `hodei otp create`, and start the worker "
      "with it in HODEI_TOKEN");
}

// What a made worker is was decided with its making: it cannot talk itself into another pool, image or isolation, nor
// take more jobs than it was made for.
void keep_what_was_made(const WorkerInfo& ordered, WorkerInfo& said) {
  said.made = ordered.made;
  said.provider = ordered.provider;
  said.image = ordered.image;
  said.isolation = ordered.isolation;
  said.slots = std::min(said.slots, ordered.slots);
  said.labels.erase("pool");
  if (const auto pool = ordered.labels.find("pool"); pool != ordered.labels.end()) said.labels["pool"] = pool->second;
}

bool has_stopped(const std::vector<std::string>& stopped, const std::string& incarnation) {
  const std::string id = parse_incarnation(incarnation).id;
  return !id.empty() && std::ranges::find(stopped, id) != stopped.end();
}

}  // namespace

void Engine::set_worker_state(LiveWorker& worker, WorkerEvent event, Turn& turn) {
  const std::optional<WorkerState> to = next(worker.state, event);
  if (!to) return;
  auto record = std::make_shared<WorkerRecord>(*worker.record);
  record->state = *to == WorkerState::Busy ? WorkerState::Ready : *to;
  write(PutWorker{record}, turn);
}

Engine::Answer Engine::on(const MakeOtp& c, Now now, Turn& turn) {
  if (!c.worker.empty()) RETURN_IF_ERROR(check_name("worker_id", c.worker.str()));
  // One that is being made may have to wait for its image first.
  const LiveWorker* worker = state_.worker(c.worker);
  const bool is_coming = worker != nullptr && worker->record->info.made && worker->state == WorkerState::Creating;
  if (!is_coming && state_.otps().size() >= config_.max_otps) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_otps,
                                            " unused tokens, which is the limit; use them, or "
                                            "wait until they expire (",
                                            config_.otp_life.count() / 1'000'000, " s)"));
  }
  // Its life begins when the worker runs: until then the token lies with the provider.
  const Duration life = is_coming ? config_.making_limit + config_.otp_life : config_.otp_life;
  const WallTime expires = steady_wall(now) + life;
  write(PutOtp{{c.token, c.worker, expires}}, turn);
  record_act(c.principal,
             {"otp.created", c.worker.str(),
              cat(c.worker.empty() ? "for any new worker, " : "", "until ", format_utc(expires))},
             now, turn);
  return OtpMade{c.worker, expires};
}

Engine::Answer Engine::on(const RegisterWorker& c, Now now, Turn& turn) {
  RETURN_IF_ERROR(validate(c.info));
  RETURN_IF_ERROR(check_incarnation("incarnation", c.incarnation));
  RETURN_IF_ERROR(check_incarnation("lineage", c.lineage));
  LiveWorker* known = state_.worker(c.info.id);
  auto record = std::make_shared<WorkerRecord>();
  record->info = c.info;
  if (known != nullptr && known->record->info.taints_set) {
    record->info.taints = known->record->info.taints;
    record->info.taints_set = true;
  }
  const Incarnation who{c.incarnation, c.lineage, c.generation};
  record->registered = now.wall;
  if (known != nullptr && known->record->info.made) keep_what_was_made(known->record->info, record->info);
  if (record->info.made && (known->state == WorkerState::Terminating || known->state == WorkerState::Terminated)) {
    return refused();
  }
  if (c.session) {
    LiveWorker* owner = state_.worker_of_session(*c.session);
    if (owner == nullptr || owner != known || owner->state == WorkerState::Terminated) {
      return absl::UnauthenticatedError(
          "session_id: this server does not know the worker's session; create a token with `hodei otp create`, and "
          "start the worker with it in HODEI_TOKEN");
    }
    RETURN_IF_ERROR(check_succession(*owner, who, c.stopped, false, now));
    record->session = *c.session;
    record->used_otp = owner->record->used_otp;
    record->registered = owner->record->registered;
    record->state = owner->record->state;
    // Who holds its executions changes with the stream, not before.
    record->incarnation = owner->record->incarnation;
    record->stopped = owner->record->stopped;
    record->info.end_reason = owner->record->info.end_reason;
    if (*record == *owner->record) return Registered{c.info.id};
  } else {
    if (!c.otp) return refused();
    const OtpRow* otp = state_.otp(*c.otp);
    const bool any_worker = otp != nullptr && otp->worker.empty();
    const bool good = otp != nullptr && (any_worker || otp->worker == c.info.id) && otp->expires > steady_wall(now);
    // The answer to the first call was lost: the same incarnation asks again with the same token.
    const bool repeated = !good && known != nullptr && known->state != WorkerState::Terminated &&
                          known->record->used_otp == *c.otp &&
                          parse_incarnation(known->record->incarnation).id == c.incarnation;
    if (!good && !repeated) return refused();
    // A token for whoever comes must not take over somebody's name.
    if (good && any_worker && known != nullptr && known->state != WorkerState::Terminated) {
      return absl::AlreadyExistsError(cat(
          "info.id: worker '", c.info.id.str(),
          "' is already registered. Give this one another id with --worker-id. If it is the same worker, start it "
          "with its old state folder; it then needs no token. To replace a worker that is gone for good: `hodei otp "
          "create --worker-id ",
          c.info.id.str(), "`"));
    }
    if (known != nullptr && known->state != WorkerState::Terminated) {
      RETURN_IF_ERROR(check_succession(*known, who, c.stopped, true, now));
    }
    if (known == nullptr && state_.workers().size() >= config_.max_workers) forget_one_terminated(turn);
    if (known == nullptr && state_.workers().size() >= config_.max_workers) {
      return absl::ResourceExhaustedError(cat("there are ", config_.max_workers,
                                              " workers, which is the limit; remove those "
                                              "that are gone with `hodei worker unregister`"));
    }
    if (known == nullptr && state_.worker_bytes() >= config_.max_worker_bytes) {
      return absl::ResourceExhaustedError(cat("workers use ", size_text(static_cast<int64_t>(state_.worker_bytes())),
                                              " of memory and the limit is ",
                                              size_text(static_cast<int64_t>(config_.max_worker_bytes)),
                                              "; give them fewer labels, "
                                              "taints and capabilities"));
    }
    // Submissions stop at half of this: there is room for as many kinds again.
    if (known == nullptr && state_.roster().judgement_bytes(1) > 2 * config_.max_judgement_bytes &&
        !state_.roster().knows_kind_of(record->info)) {
      return absl::ResourceExhaustedError(cat("info.labels: there are ", state_.roster().kinds(),
                                              " kinds of workers and ", state_.roster().shapes(),
                                              " different combinations of resources and rules waiting, "
                                              "which is the limit; give workers of one kind the same labels"));
    }
    if (good) write(DeleteOtp{*c.otp}, turn);
    record->session = c.new_session;
    record->used_otp = *c.otp;
    record->incarnation = to_text(who);
    // The first call may have been answered after all, and its stream be open.
    if (repeated) record->state = known->record->state;
    // Its predecessor, if it is still there, has nothing under way and gets nothing any more: its session is over.
    if (good && known != nullptr && known->connected) {
      drop_stream(*known, "another worker has registered with this id", turn);
    }
  }
  const bool is_fresh = !c.session && record->state == WorkerState::Connecting &&
                        (known == nullptr || known->record->session != record->session);
  write(PutWorker{record}, turn);
  LiveWorker& worker = *state_.worker(c.info.id);
  worker.last_seen = now.mono;
  worker.last_seen_wall = now.wall;
  if (is_fresh) {
    worker.connecting_since = now.mono;
    worker.unfit.clear();
    // It runs, whether or not its provider has said so yet.
    if (const auto attempt = making_.attempts.find(c.info.id); attempt != making_.attempts.end()) {
      attempt->second.deadline = std::min(attempt->second.deadline, now.mono + config_.registration_limit);
    }
    record_act(c.principal,
               {"worker.registered", c.info.id.str(),
                cat("provider ", record->info.provider, ", host ", record->info.hostname, ", ", record->info.slots,
                    record->info.slots == 1 ? " slot" : " slots")},
               now, turn);
  }
  evict(worker, turn);
  return Registered{c.info.id};
}

void Engine::drop_stream(LiveWorker& worker, const std::string& why, Turn& turn) {
  turn.effects.push_back(DropStream{worker.id(), worker.stream, why});
  worker.connected = false;
  worker.stream = 0;
  state_.roster().refresh(&worker);
}

// Two starts of one worker must not have executions at the same time, or a job could run twice. One that cannot prove
// that its predecessor's have ended waits until their lease has, however it was let in.
absl::Status Engine::check_succession(const LiveWorker& worker, const Incarnation& who,
                                      const std::vector<std::string>& stopped, bool has_token, Now now) const {
  if (speaks_for(who, parse_incarnation(worker.record->incarnation))) return absl::OkStatus();
  if (!worker.connected && has_stopped(stopped, worker.record->incarnation)) return absl::OkStatus();
  const size_t count = worker.executions.size();
  const bool is_there = worker.connected && !worker.unhealthy;
  // A token is a person's word that this one replaces the other.
  if (count == 0 && (!is_there || has_token)) return absl::OkStatus();
  const std::string& host = worker.record->info.hostname;
  const std::string executions = counted(count, "execution");
  const std::string other = cat("info.id: worker '", worker.id().str(), "'");
  if (is_there) {
    return absl::UnavailableError(cat(other, " is connected", host.empty() ? "" : cat(" from ", host),
                                      count == 0 ? "" : cat(" and running ", executions),
                                      "; this one must wait until it is gone. To run both, give each its own "
                                      "--worker-id and --state-dir; to replace the other, stop it first"));
  }
  const Duration left = std::max(Duration(0), config_.lost_after - (now.mono - worker.last_seen));
  return absl::UnavailableError(
      cat(other, " may still run ", executions, " from before", host.empty() ? "" : cat(" (", host, ")"),
          "; this one can register when the lease ends, in ", (left.count() + 999'999) / 1'000'000, " s"));
}

// Workers that left are still listed for a while; they do not keep others out.
void Engine::forget_one_terminated(Turn& turn) {
  for (const auto& [id, worker] : state_.workers()) {
    if (worker->state != WorkerState::Terminated || !worker->executions.empty()) continue;
    write(DeleteWorker{WorkerId(id)}, turn);
    return;
  }
}

void Engine::seen(LiveWorker& worker, Now now, Turn& turn) {
  worker.last_seen = now.mono;
  worker.last_seen_wall = now.wall;
  if (!worker.unhealthy) return;
  worker.unhealthy = false;
  state_.roster().refresh(&worker);
  fill(worker, now, turn);
}

Engine::Answer Engine::on(const OpenStream& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker_of_session(c.session);
  if (worker == nullptr || worker->state == WorkerState::Terminated) {
    return absl::UnauthenticatedError("session_id: unknown; register again");
  }
  const Incarnation who{c.incarnation, c.lineage, c.generation};
  RETURN_IF_ERROR(check_incarnation("hello.incarnation", c.incarnation));
  RETURN_IF_ERROR(check_incarnation("hello.lineage", c.lineage));
  RETURN_IF_ERROR(check_held("hello.held", c.held.size(), worker->record->info));
  RETURN_IF_ERROR(check_succession(*worker, who, c.stopped, false, now));
  if (worker->connected) drop_stream(*worker, "the worker opened a new stream", turn);
  const bool has_followed_a_stop = has_stopped(c.stopped, worker->record->incarnation);
  worker->connected = true;
  worker->stream = c.stream;
  worker->last_seen = now.mono;
  worker->last_seen_wall = now.wall;
  worker->unhealthy = false;
  worker->lists_active = c.lists_active;
  worker->disputed.clear();
  note_fitness(*worker, c.unfit, turn);
  if (worker->record->incarnation != to_text(who)) {
    auto record = std::make_shared<WorkerRecord>(*worker->record);
    record->incarnation = to_text(who);
    write(PutWorker{record}, turn);
    worker->refusals = 0;
    worker->paused = false;
  }
  if (c.stopping || has_followed_a_stop) set_stopped(*worker, true, turn);
  if (worker->state == WorkerState::Connecting) set_worker_state(*worker, WorkerEvent::Open, turn);
  state_.roster().refresh(worker);
  StreamOpened opened{worker->id(), reconcile(*worker, c, now, turn)};
  // Not before: what an earlier start had when it stopped was interrupted.
  if (!c.stopping) set_stopped(*worker, false, turn);
  if (worker->state == WorkerState::Draining || worker->state == WorkerState::Terminating) {
    turn.effects.push_back(TellDrain{worker->id(), worker->stream, "draining"});
  }
  leave_if_drained(*worker, now, turn);
  if (worker->record->info.made) has_come(*worker, now, turn);
  fill(*worker, now, turn);
  return opened;
}

std::vector<ExecutionId> Engine::reconcile(LiveWorker& worker, const OpenStream& hello, Now now, Turn& turn) {
  std::map<ExecutionId, const HeldExecution*> held;
  for (const HeldExecution& h : hello.held) held[h.execution] = &h;
  WelcomeWorker welcome{worker.id(), hello.stream, {}, {}};
  for (const auto& [execution, h] : held) {
    const bool is_current = current(worker.id(), execution) != nullptr;
    // An ended one that is not current has had its result recorded: its log may still be on the way, so it is kept.
    if (!is_current && !h->ended) welcome.unknown.push_back(execution);
    if (was_given(worker.id(), execution))
      welcome.held.push_back(execution);  // how far a log is, its own worker may know
  }
  std::vector<ExecutionId> given = welcome.held;
  turn.effects.push_back(std::move(welcome));
  const bool follows_a_stop = worker.record->stopped && !hello.stopping;
  const std::vector<ExecutionId> believed(worker.executions.begin(), worker.executions.end());
  for (const ExecutionId& execution : believed) {
    const auto it = held.find(execution);
    if (it == held.end()) {
      lose(execution, "the worker does not have this execution", now, turn);
      continue;
    }
    if (it->second->started) on_started(worker.id(), {execution, {}}, now, turn);
    const JobHead* job = current(worker.id(), execution);
    if (job != nullptr && is_ending(*job)) {
      const bool timed_out = job->timeout_requested && !job->cancel_requested;
      turn.effects.push_back(CancelExecution{worker.id(), hello.stream, execution, timed_out, job->grace});
    }
  }
  if (!follows_a_stop) return given;
  for (const auto& [execution, h] : held) {
    if (h->ended && h->interrupted) hear_of_interruption(worker, execution, turn);
  }
  return given;
}

Engine::Answer Engine::on(const CloseStream& c, Now now, Turn& turn) {
  LiveWorker* worker = state_.worker(c.worker);
  if (worker == nullptr || worker->stream != c.stream) return Done{};
  worker->connected = false;
  state_.roster().refresh(worker);
  const bool made = worker->record->info.made.has_value();
  // One that was made is not started again: another is, when somebody needs it.
  if (made && worker->record->stopped && worker->executions.empty() && takes_work(worker->state)) {
    give_up(*worker, MakingFailure::Room, "it was stopped", now, turn);
    return Done{};
  }
  if (worker->state != WorkerState::Terminating) return Done{};
  // One that was made is gone when its provider says so.
  if (made) {
    destroy(*worker, turn);
  } else {
    end_worker(*worker, WorkerEvent::Gone, "it left", now, turn);
  }
  return Done{};
}

}  // namespace hodei::core
