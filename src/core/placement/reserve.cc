#include "src/core/placement/reserve.h"

#include <algorithm>

namespace hodei::core {
namespace {

// Of lanes and workers that are long gone; beyond this all are tried again.
constexpr size_t kMaxGivenUp = 10'000;

}  // namespace

size_t Reservations::count(const LaneKey& lane) const {
  return static_cast<size_t>(
      std::count_if(all_.begin(), all_.end(), [&](const Reservation& r) { return r.lane == lane; }));
}

size_t Reservations::preempting(const LaneKey& lane) const {
  const auto makes_room = [&](const Reservation& r) { return r.preempting && r.lane == lane; };
  return static_cast<size_t>(std::count_if(all_.begin(), all_.end(), makes_room));
}

bool Reservations::full(bool preempting) const {
  const auto same = [&](const Reservation& r) { return r.preempting == preempting; };
  const auto taken = static_cast<size_t>(std::count_if(all_.begin(), all_.end(), same));
  return taken >= (preempting ? kMaxPreempting : kMaxStarving);
}

const Reservation* Reservations::of(const WorkerId& worker) const {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const Reservation& r) { return r.worker == worker; });
  return it == all_.end() ? nullptr : &*it;
}

void Reservations::add(LiveWorker& worker, const Reservation& reservation) {
  worker.reserved = reservation.lane;
  all_.push_back(reservation);
}

void Reservations::release(LiveWorker& worker) {
  worker.reserved = {};
  forget(worker.id());
}

void Reservations::forget(const WorkerId& worker) {
  std::erase_if(all_, [&](const Reservation& r) { return r.worker == worker; });
}

void Reservations::give_up(LiveWorker& worker) {
  if (given_up_.size() >= kMaxGivenUp) given_up_.clear();
  given_up_.insert({worker.reserved, worker.id()});
  release(worker);
}

void Reservations::try_all_again(const LaneKey& lane) {
  std::erase_if(given_up_, [&](const auto& pair) { return pair.first == lane; });
}

double shortfall(const Amounts& needs, const Amounts& free) {
  const auto missing = [](int64_t need, int64_t has) {
    return need <= has ? 0.0 : static_cast<double>(need - has) / static_cast<double>(need);
  };
  return missing(needs.cpu_milli, free.cpu_milli) + missing(needs.memory_mb, free.memory_mb) +
         missing(needs.storage_mb, free.storage_mb) + missing(needs.gpus, free.gpus);
}

}  // namespace hodei::core
