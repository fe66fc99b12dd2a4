#include "src/worker/supervisor/place_pool.h"

#include <utility>

#include "src/base/status.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr size_t kMaxFreePlaces = 256;

}  // namespace

absl::StatusOr<std::unique_ptr<Place>> PlacePool::take(bool with_group) {
  ASSIGN_OR_RETURN(std::unique_ptr<Place> place, free_or_new(with_group));
  if (parts_.ledger != nullptr) place->record = parts_.ledger->take();
  return place;
}

absl::StatusOr<std::unique_ptr<Place>> PlacePool::free_or_new(bool with_group) {
  std::vector<std::unique_ptr<Place>>& free = with_group ? limited_places_ : places_;
  if (!free.empty()) {
    // The newest is warm; but of those with limits the one that rested longest: cpu time that the last execution used
    // up would be missing in this one until the kernel's period ends.
    const auto taken = with_group ? free.begin() : free.end() - 1;
    std::unique_ptr<Place> place = std::move(*taken);
    free.erase(taken);
    return place;
  }
  auto place = std::make_unique<Place>();
  ASSIGN_OR_RETURN(place->enclosure, parts_.enclosures.make());
  ASSIGN_OR_RETURN(place->folder, parts_.folders.next());
  if (with_group) place->group = parts_.groups->make(*place->enclosure);
  return place;
}

void PlacePool::give_back(std::unique_ptr<Place> place) {
  if (parts_.ledger != nullptr) parts_.ledger->give_back(std::exchange(place->record, nullptr));
  if (place->enclosure->is_spent() || (place->group && place->group->is_spent())) {
    const bool with_group = place->group != nullptr;
    place->group.reset();
    auto fresh = parts_.enclosures.make();
    if (!fresh.ok()) return say("cannot clean up after an execution: ", std::string(fresh.status().message()));
    place->enclosure = std::move(*fresh);
    if (with_group) place->group = parts_.groups->make(*place->enclosure);
  }
  if (!place->folder->is_untouched()) return parts_.spawns.clean(std::move(place));
  keep_free(std::move(place));
}

void PlacePool::keep_free(std::unique_ptr<Place> place) {
  std::vector<std::unique_ptr<Place>>& free = place->group ? limited_places_ : places_;
  if (free.size() < kMaxFreePlaces) free.push_back(std::move(place));
}

}  // namespace hodei::worker
