#include "src/core/placement/placer.h"

#include <algorithm>
#include <utility>

#include "src/core/placement/rules/rule.h"

namespace hodei::core {

void Placer::place_job(JobId id, Turn& turn) {
  const LiveJob* live = ports_.jobs->find(id);
  if (live->where != LiveJob::Where::InLane) return;
  if (limits_.is_full(*live->head, turn)) {
    limits_.park(id, turn);
    return;
  }
  // Others of its lane wait already: by the roster's invariant there is no room for this one either.
  if (live->lane->first() == id) {
    place_lane(live->lane, turn);
  } else {
    ports_.supply->want(*live->lane);
  }
}

void Placer::place_lane(Lane* lane, Turn& turn) {
  while (!lane->jobs.empty()) {
    const JobId id = lane->first();
    if (limits_.is_full(*ports_.jobs->find(id)->head, turn)) {
      limits_.park(id, turn);
      continue;
    }
    if (!roster_.admits(*lane)) return ports_.supply->want(*lane);  // a worker is made when its quota lets it start
    Choice choice;
    // Those that had it before and did not start it come last.
    if (const Past* past = ports_.jobs->find(id)->head->past.get(); past != nullptr && !past->refused_by.empty()) {
      choice = roster_.best(*lane, past->refused_by);
    }
    if (choice.worker == nullptr) choice = roster_.best(*lane);
    if (choice.worker == nullptr) {
      room_maker_.preempt(*lane, turn);
      return ports_.supply->want(*lane);  // a worker on which room is being made counts as one
    }
    const bool last = lane->jobs.size() == 1 && lane->parked == 0;  // the lane goes with it
    roster_.tenants.served(*lane);
    assign(id, *choice.worker, std::move(choice.decision), turn);
    if (last) return;
  }
}

void Placer::fill(LiveWorker& worker, Turn& turn) {
  while (Lane* lane = roster_.first_waiting(worker)) {
    const JobId id = lane->first();
    if (limits_.is_full(*ports_.jobs->find(id)->head, turn)) {
      limits_.park(id, turn);
      continue;
    }
    const Fit fit = fit_of(*lane->shape->shape, worker.record->info);
    Decision decision = roster_.decision_for(*lane, worker, fit);
    roster_.tenants.served(*lane);
    assign(id, worker, std::move(decision), turn);
  }
}

void Placer::fill_all(Turn& turn) {
  for (const auto& [id, worker] : workers_.all()) fill(*worker, turn);
}

void Placer::place_woken(std::vector<JobId> jobs, Turn& turn) {
  std::sort(jobs.begin(), jobs.end(), [this](JobId a, JobId b) {
    const Priority first = ports_.jobs->find(a)->head->priority;
    const Priority second = ports_.jobs->find(b)->head->priority;
    return first != second ? first > second : a < b;
  });
  for (const JobId job : jobs) {
    const LiveJob* live = ports_.jobs->find(job);
    if (live->where == LiveJob::Where::InLane) place_lane(live->lane, turn);
  }
}

void Placer::place_on(JobId job, LiveWorker& worker, Turn& turn) {
  const LiveJob* live = ports_.jobs->find(job);
  if (live == nullptr || live->where != LiveJob::Where::InLane || !worker.available()) return;
  Lane* lane = live->lane;
  const Shape& shape = *lane->shape->shape;
  const Fit fit = fit_of(shape, worker.record->info);
  if (!serves(worker.record->info, live->head->ns.str()) || first_rejection(shape, worker.record->info)) return;
  if (!roster_.fits(*lane, fit, worker)) return;
  if (limits_.is_full(*live->head, turn) || !roster_.admits(*lane)) return;
  Decision decision = roster_.decision_for(*lane, worker, fit);
  roster_.tenants.served(*lane);
  assign(job, worker, std::move(decision), turn);
}

void Placer::assign(JobId id, LiveWorker& worker, Decision decision, Turn& turn) {
  Lane* lane = ports_.jobs->find(id)->lane;
  const bool was_kept = room_maker_.release_for(worker, lane);
  // One more job may be the one that another job must run next to, or, when packing, what lifts the worker over the
  // threshold.
  const bool wakes = roster_.shapes.affinity_wanted() || roster_.packs_to_threshold();
  if (was_kept || wakes) fill_later(worker.id());
  roster_.took_turn(worker);
  ports_.jobs->dispatch(id, worker, std::move(decision), turn);
  limits_.count_start(*ports_.jobs->find(id)->head, lane, turn);
}

void Placer::settle(Turn& turn) {
  room_maker_.check_if_any(turn);
  for (size_t i = 0; i < touched_.size(); ++i) {
    if (LiveWorker* worker = workers_.find(touched_[i])) fill(*worker, turn);
    room_maker_.check_if_any(turn);
  }
  touched_.clear();
  room_maker_.preempt_if_due(turn);
}

}  // namespace hodei::core
