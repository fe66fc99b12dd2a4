// An engine in memory and the providers on it: a good one, and bad ones that break one promise each.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/text.h"
#include "src/providers/provider.h"

namespace hodei::providers {

enum class Fault {
  None,
  Leaks,
  ForgetsAndLeaks,
  SaysRunningForEver,
  SaysGoneTooSoon,
  NeverRuns,
  IgnoresItsLimit,
  RacesItsLimit,
  TouchesOthers,
  MakesTwice,
  ForgetsAtRestart,
  NeedsTheHandleId,
  FailsTheSecondDestroy,
  TellsTheToken,
  ErrorForUnknown,
  TakesAnyImage,
  Unhealthy,
  WrongErrorWhenFull,
  LogsTooMuch,
  KeepsRoom
};

// What outlives provider objects, as a container engine does.
struct FakeEngine {
  struct Thing {
    std::string installation, worker_id, id, token;
    int looks = 0;  // it runs after the first one
    bool ended = false;
    bool forgotten = false;
  };

  std::vector<std::string> things(const std::string& installation) {
    const std::scoped_lock lock(mutex);
    std::vector<std::string> out;
    for (const auto& [id, thing] : all) {
      if (thing.installation == installation) out.push_back(cat("thing ", id, " of ", thing.worker_id));
    }
    return out;
  }

  std::mutex mutex;
  std::map<std::string, Thing> all;
  int made = 0;
};

class FakeProvider final : public Provider {
 public:
  FakeProvider(FakeEngine& engine, Installation installation, uint32_t room, Fault fault)
      : engine_(engine), installation_(std::move(installation)), room_(room), fault_(fault) {}

  Capabilities capabilities() const override { return {.images = true, .max_workers = room_}; }
  Duration estimated_startup_time() const override { return 1s; }
  Health health_check() override {
    return fault_ == Fault::Unhealthy ? Health{HealthState::Degraded, "says so"} : Health{HealthState::Healthy, ""};
  }

  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) override;
  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) override;
  absl::Status destroy_worker(const WorkerHandle& handle) override;
  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) override;
  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override;

 private:
  FakeEngine::Thing* find(const WorkerHandle& handle);
  bool mine(const FakeEngine::Thing& thing) const {
    return (thing.installation == installation_.id || fault_ == Fault::TouchesOthers) && !thing.forgotten;
  }
  WorkerStatus look(FakeEngine::Thing& thing) const;
  uint32_t there() const;

  FakeEngine& engine_;
  const Installation installation_;
  const uint32_t room_;
  const Fault fault_;
  uint32_t taken_ = 0;  // only of Fault::KeepsRoom
  uint32_t last_look_ = 0;
  std::set<std::string> remembered_;  // only of Fault::ForgetsAtRestart
};

}  // namespace hodei::providers
