#include "src/core/placement/room_maker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/core/placement/placer.h"
#include "src/core/placement/preempt.h"
#include "src/core/placement/rules/affinity.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {
namespace {

// Looked at in one go. With more lanes than this it takes several sweeps to see them all.
constexpr size_t kMaxLanesAtOnce = 1000;
// Each of these is a look at every worker that could take the lane, so a sweep does only a few.
constexpr size_t kMaxLooksAtOnce = 8;
constexpr Duration kLookAgainAfter = 30s;
// A worker that does not get free in this many times `reserve_after` is given up for another.
constexpr int kReservationLives = 10;

bool is_older(const Lane* a, const Lane* b) {
  return a->priority != b->priority ? a->priority > b->priority : a->first() < b->first();
}

}  // namespace

void RoomMaker::check_reservations(const Turn& turn, bool thoroughly) {
  const SchedulerConfig& config = roster_.config();
  const std::vector<Reservation> all = reservations_.all();
  std::map<LaneKey, size_t> seen;
  for (const Reservation& r : all) {
    LiveWorker* worker = workers_.find(r.worker);
    if (worker == nullptr) {
      reservations_.forget(r.worker);
      continue;
    }
    const Lane* lane = roster_.lanes.find(r.lane);
    const bool wanted = lane != nullptr && ++seen[r.lane] <= lane->jobs.size() && roster_.admits(*lane);
    bool good = wanted && worker->available();
    if (good && thoroughly) {
      good = (r.preempting ? config.preemption : config.reserve_after > Duration(0)) &&
             !first_rejection(*lane->shape->shape, worker->record->info);
    }
    if (good && !r.preempting && turn.mono() - r.since >= config.reserve_after * kReservationLives) {
      reservations_.give_up(*worker);
    } else if (!good) {
      reservations_.release(*worker);
    } else {
      continue;
    }
    placer_.fill_later(r.worker);
    preempt_due_ = config.preemption;
  }
}

void RoomMaker::sweep(Turn& turn) {
  check_reservations(turn, true);
  const SchedulerConfig& config = roster_.config();
  preempt_due_ = config.preemption;
  if (config.reserve_after <= Duration(0)) return;
  std::vector<Lane*> starving;
  const size_t most = std::min(kMaxLanesAtOnce, roster_.lanes.size());
  for (size_t looked = 0; looked < most; ++looked) {
    Lane* lane = roster_.lanes.after(starving_from_);
    if (lane == nullptr) lane = roster_.lanes.after({});
    starving_from_ = lane->key();
    if (lane->first() != lane->watched) {
      lane->watched = lane->first();
      lane->watched_since = turn.mono();
    }
    if (lane->watched != JobId{} && turn.mono() - lane->watched_since >= config.reserve_after) starving.push_back(lane);
  }
  std::sort(starving.begin(), starving.end(), is_older);
  size_t looks = 0;
  for (Lane* lane : starving) {
    if (reservations_.full(false) || looks == kMaxLooksAtOnce) return;
    if (reservations_.count(lane->key()) > 0 || !may_make_room_for(*lane, turn)) continue;
    ++looks;
    if (!reserve(*lane, turn)) lane->watched_since = turn.mono();  // others get a look before it does again
  }
}

bool RoomMaker::may_make_room_for(const Lane& lane, const Turn& turn) const {
  return reservations_.count(lane.key()) < lane.jobs.size() && roster_.admits(lane) &&
         !limits_.is_full(*ports_.jobs->find(lane.first())->head, turn);
}

bool RoomMaker::one_end_makes_room(const LiveWorker& worker, const Amounts& needs) const {
  return std::any_of(worker.executions.begin(), worker.executions.end(), [&](const ExecutionId& e) {
    Amounts free = worker.free();
    free += ports_.jobs->find(e.job)->head->shape->needs;
    return free.covers(needs);
  });
}

bool RoomMaker::reserve(const Lane& lane, const Turn& turn) {
  const Shape& shape = *lane.shape->shape;
  LiveWorker* best = nullptr;
  double best_missing = 0;
  size_t large_enough = 0;
  size_t simple = 0;
  bool gave_up = false;
  roster_.visit_eligible(lane, [&](LiveWorker& worker) {
    if (!worker.available() || worker.executions.empty() || !worker.record->info.capacity.covers(shape.needs)) return;
    ++large_enough;
    if (one_end_makes_room(worker, shape.needs)) {
      ++simple;
      return;
    }
    if (worker.reserved.priority != 0 || !meets_required_affinity(shape, worker)) return;
    if (reservations_.given_up(lane.key(), worker.id())) {
      gave_up = true;
      return;
    }
    const double missing = shortfall(shape.needs, worker.free());
    if (best != nullptr && missing >= best_missing) return;
    best = &worker;
    best_missing = missing;
  });
  // Where the end of any one execution makes room, it is served by its class and its tenant's share like everybody.
  if (2 * simple >= large_enough) return false;
  if (best == nullptr && gave_up) reservations_.try_all_again(lane.key());
  if (best == nullptr) return false;
  reservations_.add(*best, {lane.key(), best->id(), turn.mono(), false});
  return true;
}

bool RoomMaker::preempt(const Lane& lane, Turn& turn) {
  if (!roster_.config().preemption || lane.priority == Priority::Low) return false;
  if (reservations_.full(true) || !may_make_room_for(lane, turn)) return false;
  const Shape& shape = *lane.shape->shape;
  LiveWorker* best = nullptr;
  std::vector<const JobHead*> mildest;
  roster_.visit_eligible(lane, [&](LiveWorker& worker) {
    if (!worker.available() || worker.reserved.priority != 0) return;
    if (!worker.record->info.capacity.covers(shape.needs) || rejects_affinity(shape, worker)) return;
    uint32_t lower = 0;
    for (size_t p = 0; p < static_cast<size_t>(lane.priority); ++p) lower += worker.by_class[p];
    if (lower == 0) return;
    std::vector<Occupant> occupants;
    for (const ExecutionId& e : worker.executions) {
      const JobHead* job = ports_.jobs->find(e.job)->head.get();
      occupants.push_back({job, is_ending(*job)});
    }
    std::optional<std::vector<const JobHead*>> found = victims(shape.needs, lane.priority, worker, occupants);
    if (!found || (best != nullptr && !is_milder(*found, mildest))) return;
    best = &worker;
    mildest = *std::move(found);
  });
  if (best == nullptr) return false;
  reservations_.add(*best, {lane.key(), best->id(), turn.mono(), true});
  std::vector<JobId> chosen;  // a job that is put back is a new head
  for (const JobHead* job : mildest) chosen.push_back(job->id);
  for (const JobId id : chosen) {
    ports_.jobs->put_back(
        *ports_.jobs->find(id)->head, Requeue::Preempted,
        cat("preempted on worker ", best->id().str(), " by job ", short_id(lane.first()), " of a higher priority"),
        turn);
  }
  return true;
}

void RoomMaker::preempt_if_due(Turn& turn) {
  if (!std::exchange(preempt_due_, false) || !roster_.config().preemption) return;
  std::vector<Lane*> lanes;
  LaneKey at{static_cast<uint8_t>(Priority::Low), UINT32_MAX, UINT32_MAX};
  while (Lane* lane = lanes.size() < kMaxLanesAtOnce ? roster_.lanes.after(at) : nullptr) {
    at = lane->key();
    if (!lane->jobs.empty()) lanes.push_back(lane);
  }
  std::sort(lanes.begin(), lanes.end(), is_older);
  size_t looks = 0;
  for (Lane* lane : lanes) {
    while (lane->no_room_before <= turn.mono() && may_make_room_for(*lane, turn)) {
      if (reservations_.full(true) || looks++ == kMaxLooksAtOnce) return;
      if (!preempt(*lane, turn)) lane->no_room_before = turn.mono() + kLookAgainAfter;
    }
  }
}

bool RoomMaker::release_for(LiveWorker& worker, const Lane* lane) {
  const bool was_kept = worker.reserved.priority != 0 && lane != nullptr && worker.reserved == lane->key();
  if (!was_kept) return false;
  reservations_.release(worker);
  preempt_due_ = true;
  return true;
}

void RoomMaker::check_if_any(const Turn& turn) {
  if (!reservations_.empty()) check_reservations(turn, false);
}

void RoomMaker::preempt_later() { preempt_due_ = roster_.config().preemption; }

}  // namespace hodei::core
