#include "src/core/fleet/registrations.h"

#include <algorithm>

#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/core/fleet/succession.h"
#include "src/core/fleet/taints.h"

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

}  // namespace

Answer Registrations::decide(const RegisterWorker& c, Turn& turn) {
  RETURN_IF_ERROR(validate(c.info));
  RETURN_IF_ERROR(check_incarnation("incarnation", c.incarnation));
  RETURN_IF_ERROR(check_incarnation("lineage", c.lineage));
  LiveWorker* known = workers_.find(c.info.id);
  auto record = std::make_shared<WorkerRecord>();
  record->info = c.info;
  if (known != nullptr && known->record->info.taints_set) {
    record->info.taints = known->record->info.taints;
    record->info.taints_set = true;
  }
  record->registered = turn.wall();
  if (known != nullptr && known->record->info.made) keep_what_was_made(known->record->info, record->info);
  if (record->info.made && (known->state == WorkerState::Terminating || known->state == WorkerState::Terminated)) {
    return refused();
  }
  if (c.session) {
    RETURN_IF_ERROR(with_session(c, known, *record, turn));
    if (*record == *known->record) return Registered{c.info.id};
  } else {
    RETURN_IF_ERROR(with_token(c, known, *record, turn));
  }
  const bool is_new = !c.session && (known == nullptr || known->record->session != record->session);
  const bool is_fresh = record->state == WorkerState::Connecting && (is_new || known->state == WorkerState::Terminated);
  turn.write(Put<WorkerRecord>(std::move(record)));
  LiveWorker& worker = *workers_.find(c.info.id);
  worker.last_seen = turn.mono();
  worker.last_seen_wall = turn.wall();
  if (is_fresh) note_fresh(worker, turn);
  evict(worker, *ports_.executions, turn);
  return Registered{c.info.id};
}

absl::Status Registrations::with_session(const RegisterWorker& c, const LiveWorker* known, WorkerRecord& record,
                                         const Turn& turn) const {
  const LiveWorker* owner = workers_.of_session(*c.session);
  if (owner == nullptr || owner != known || (owner->state == WorkerState::Terminated && !comes_late(*owner))) {
    return absl::UnauthenticatedError(
        "session_id: this server does not know the worker's session; create a token with `hodei otp create`, and "
        "start the worker with it in HODEI_TOKEN");
  }
  const Incarnation who{c.incarnation, c.lineage, c.generation};
  RETURN_IF_ERROR(check_succession(*owner, {who, c.stopped}, config_, turn));
  record.session = *c.session;
  record.used_otp = owner->record->used_otp;
  record.registered = owner->record->registered;
  record.state = owner->record->state;
  // Who holds its executions changes with the stream, not before.
  record.incarnation = owner->record->incarnation;
  record.stopped = owner->record->stopped;
  record.info.end_reason = owner->record->info.end_reason;
  if (comes_late(*owner)) begin_again(record);
  return absl::OkStatus();
}

absl::Status Registrations::with_token(const RegisterWorker& c, LiveWorker* known, WorkerRecord& record, Turn& turn) {
  if (!c.otp) return refused();
  const Incarnation who{c.incarnation, c.lineage, c.generation};
  const bool is_there = known != nullptr && known->state != WorkerState::Terminated;
  const OtpRow* otp = tokens_.find(*c.otp);
  const bool any_worker = otp != nullptr && otp->worker.empty();
  const bool good = otp != nullptr && (any_worker || otp->worker == c.info.id) && otp->expires > turn.steady();
  // The answer to the first call was lost: the same incarnation asks again with the same token.
  const bool repeated = !good && is_there && known->record->used_otp == *c.otp &&
                        parse_incarnation(known->record->incarnation).id == c.incarnation;
  if (!good && !repeated) return refused();
  // A token for whoever comes must not take over somebody's name.
  if (good && any_worker && is_there) {
    return absl::AlreadyExistsError(
        cat("info.id: worker '", c.info.id.str(),
            "' is already registered. Give this one another id with --worker-id. If it is the same worker, start it "
            "with its old state folder; it then needs no token. To replace a worker that is gone for good: `hodei otp "
            "create --worker-id ",
            c.info.id.str(), "`"));
  }
  if (is_there) RETURN_IF_ERROR(check_succession(*known, {who, c.stopped, true}, config_, turn));
  if (known == nullptr) RETURN_IF_ERROR(check_room(record.info, turn));
  if (good) turn.write(Erase<OtpRow>{*c.otp});
  record.session = c.new_session;
  record.used_otp = *c.otp;
  record.incarnation = to_text(who);
  // The first call may have been answered after all, and its stream be open.
  if (repeated) record.state = known->record->state;
  // Its predecessor, if it is still there, has nothing under way and gets nothing any more: its session is over.
  if (good && known != nullptr && known->connected) {
    workers_.drop_stream(*known, "another worker has registered with this id", turn);
  }
  return absl::OkStatus();
}

absl::Status Registrations::check_room(const WorkerInfo& info, Turn& turn) {
  if (workers_.all().size() >= config_.max_workers) workers_.forget_one_terminated(turn);
  if (workers_.all().size() >= config_.max_workers) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_workers,
                                            " workers, which is the limit; remove those "
                                            "that are gone with `hodei worker unregister`"));
  }
  if (workers_.bytes() >= config_.max_worker_bytes) {
    return absl::ResourceExhaustedError(cat("workers use ", size_text(static_cast<int64_t>(workers_.bytes())),
                                            " of memory and the limit is ",
                                            size_text(static_cast<int64_t>(config_.max_worker_bytes)),
                                            "; give them fewer labels, "
                                            "taints and capabilities"));
  }
  return ports_.room->check_kind(info);
}

void Registrations::note_fresh(LiveWorker& worker, Turn& turn) {
  worker.connecting_since = turn.mono();
  worker.unfit.clear();
  ports_.makers->registered(worker.id(), turn);
  const WorkerInfo& info = worker.record->info;
  audit_.record_act({"worker.registered", worker.id().str(),
                     cat("provider ", info.provider, ", host ", info.hostname, ", ", info.slots,
                         info.slots == 1 ? " slot" : " slots")},
                    turn);
}

}  // namespace hodei::core
