#include "src/server/provisioning/provider_inventory.h"

#include <utility>
#include <vector>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {

ProviderInventory::ProviderInventory(std::string name, std::shared_ptr<EngineLine> line,
                                     std::shared_ptr<CurrentProvider> current, std::shared_ptr<CallPool> pool,
                                     std::shared_ptr<WorkerLooks> looks)
    : name_(std::move(name)),
      line_(std::move(line)),
      current_(std::move(current)),
      pool_(std::move(pool)),
      looks_(std::move(looks)) {}

MonoTime ProviderInventory::tick(MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (due_ <= now) {
    due_ = now + kEvery;
    if (!listing_) listing_ = pool_->add([self = shared_from_this()] { self->list(); });
  }
  return due_;
}

void ProviderInventory::list_soon(MonoTime now) {
  const std::lock_guard lock(mutex_);
  due_ = now;
}

void ProviderInventory::list() {
  const auto ask = [this]() -> absl::StatusOr<std::vector<providers::OwnedWorker>> {
    ASSIGN_OR_RETURN(const ProviderPtr provider, current_->get());
    return provider->list_workers();
  };
  const absl::StatusOr<std::vector<providers::OwnedWorker>> owned = ask();
  {
    const std::lock_guard lock(mutex_);  // before it is told: whoever hears of it may ask for the next one
    listing_ = false;
  }
  if (!owned.ok()) {
    journal(Level::Debug, "providers", "provider=", name_,
            " cannot list its workers: ", std::string(owned.status().message()));
    return;
  }
  looks_->adopt(*owned);
  // Those of an earlier life come back through the ports that it had.
  if (const absl::StatusOr<ProviderPtr> now = current_->get(); !owned->empty() && now.ok()) {
    if (const absl::Status opened = current_->open_worker_ports(**now); !opened.ok()) {
      journal(Level::Warn, "providers", "provider=", name_,
              " has workers that cannot be recovered: ", std::string(opened.message()));
    }
  }
  core::Inventory inventory{name_, {}};
  for (const providers::OwnedWorker& one : *owned)
    inventory.workers.push_back({WorkerId(one.handle.worker_id), one.handle.id});
  line_->tell(inventory);
}

}  // namespace hodei::server
