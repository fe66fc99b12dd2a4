// A pool of places for executions: an enclosure, a folder and a resource group each. They are reused, because creating
// new ones halves the rate of starts.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/supervisor/execution_ledger.h"
#include "src/worker/supervisor/spawn_pool.h"
#include "src/worker/supervisor/work_folder.h"

namespace hodei::worker {

class PlacePool {
 public:
  struct Parts {
    Enclosures& enclosures;
    ResourceGroups* groups = nullptr;  // null: no limits but those of the enclosures
    WorkFolders& folders;
    ExecutionLedger* ledger = nullptr;  // null: none can be kept here
    SpawnPool& spawns;
  };
  explicit PlacePool(Parts parts) : parts_(parts) {}

  absl::StatusOr<std::unique_ptr<Place>> take(bool with_group);
  void give_back(std::unique_ptr<Place> place);  // cleaned first, if it was touched
  void keep_free(std::unique_ptr<Place> place);

 private:
  absl::StatusOr<std::unique_ptr<Place>> free_or_new(bool with_group);

  Parts parts_;
  std::vector<std::unique_ptr<Place>> places_;          // free ones
  std::vector<std::unique_ptr<Place>> limited_places_;  // free ones with a resource group
};

}  // namespace hodei::worker
