// One stored provider at work, between the engine and the provider itself: its parts, put together.
//
//   WorkerLifecycle     creates and destroys workers
//   WorkerLooks         looks at them until they register, and beyond
//   ProviderHealth      checks the provider
//   ProviderInventory   lists all that the provider has
//   MakingReports       tells the engine what became of them
#pragma once

#include <memory>
#include <string>

#include "src/server/provisioning/worker_lifecycle.h"

namespace hodei::server {

class ProviderInventory;

class ProviderAdapter {
 public:
  static constexpr Duration kTokenPatience = 10s;

  ProviderAdapter(const std::string& name, const std::shared_ptr<EngineLine>& line, const Clock& clock,
                  OnMaking on_making);

  // From now on with this provider; an error: there is none, and this is why. What was made stays known.
  void use(absl::StatusOr<ProviderPtr> provider);
  void set_server_address(const std::string& address, OpenWorkerPort open_port);
  // The engine knows nothing of its health and of what it has: look at once.
  void look_at_everything();
  // Starts what is due; answers when the next thing is.
  MonoTime tick();
  // Forgets everything; calls under way get this long.
  void close(Duration patience);

  WorkerLifecycle& workers() { return *lifecycle_; }
  ProviderHealth& health() { return *health_; }
  WorkerLooks& looks() { return *looks_; }

 private:
  const Clock& clock_;
  const std::shared_ptr<CurrentProvider> current_;
  const std::shared_ptr<MadeWorkers> made_;
  const std::shared_ptr<CallPool> checkers_;  // for health and inventory
  std::shared_ptr<ProviderHealth> health_;
  std::shared_ptr<WorkerLooks> looks_;
  std::shared_ptr<ProviderInventory> inventory_;
  std::shared_ptr<WorkerLifecycle> lifecycle_;
};

}  // namespace hodei::server
