#include "src/server/provisioning/provider_adapter.h"

#include <algorithm>
#include <future>
#include <utility>

#include "src/base/pause.h"
#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/server/provisioning/provider_inventory.h"

namespace hodei::server {
namespace {

constexpr size_t kCheckers = 2, kMaxWaitingChecks = 100;

MakeWorkerToken tokens_from(const std::shared_ptr<EngineLine>& line, const std::string& provider) {
  return [line, provider](const WorkerId& worker) -> absl::StatusOr<std::string> {
    std::string token = random_uuid();
    const absl::Status stored =
        line->ask_and_wait(core::MakeOtp{secret_hash(token), worker}, ProviderAdapter::kTokenPatience,
                           core::from_server(cat("provider ", provider)))
            .status();
    if (stored.ok()) return token;
    return absl::UnavailableError(cat("cannot create a token for it: ", std::string(stored.message())));
  };
}

}  // namespace

ProviderAdapter::ProviderAdapter(const std::string& name, const std::shared_ptr<EngineLine>& line, const Clock& clock,
                                 OnMaking on_making)
    : clock_(clock),
      current_(std::make_shared<CurrentProvider>()),
      made_(std::make_shared<MadeWorkers>()),
      checkers_(std::make_shared<CallPool>(kCheckers, kMaxWaitingChecks)),
      health_(std::make_shared<ProviderHealth>(name, line, clock, current_, checkers_)) {
  auto reports = std::make_shared<MakingReports>(name, line, clock, std::move(on_making), health_);
  looks_ = std::make_shared<WorkerLooks>(clock, current_, made_, reports);
  inventory_ = std::make_shared<ProviderInventory>(name, line, current_, checkers_, looks_);
  lifecycle_ = std::make_shared<WorkerLifecycle>(WorkerLifecycle::Parts{.clock = clock,
                                                                        .current = current_,
                                                                        .workers = made_,
                                                                        .reports = reports,
                                                                        .looks = looks_,
                                                                        .make_token = tokens_from(line, name)});
}

void ProviderAdapter::set_server_address(const std::string& address, OpenWorkerPort open_port) {
  current_->set_server_address(address, std::move(open_port));
}

void ProviderAdapter::use(absl::StatusOr<ProviderPtr> provider) {
  if (provider.ok()) {
    (*provider)->watch([weak = std::weak_ptr(looks_)](const std::string& worker) {
      if (const auto looks = weak.lock()) looks->changed(worker);
    });
  }
  ProviderPtr old = current_->replace(std::move(provider));
  // It may wait for a call of its own that is under way.
  if (old != nullptr) checkers_->add([old = std::move(old)] { old->unwatch(); });
  look_at_everything();
}

void ProviderAdapter::look_at_everything() {
  health_->check_soon();
  inventory_->list_soon(clock_.now().mono);
}

MonoTime ProviderAdapter::tick() {
  const MonoTime now = clock_.now().mono;
  const MonoTime checks = std::min(health_->tick(now), inventory_->tick(now));
  return std::min(checks, lifecycle_->tick(now));
}

void ProviderAdapter::close(Duration patience) {
  ProviderPtr old;
  {
    // In one step: whoever finds no provider any more must not find a worker whose failure could be told.
    const std::lock_guard lock(made_->mutex);
    old = current_->drop();
    made_->by_id.clear();
    made_->ending = true;
  }
  // Real time, whatever the clock says: this waits for threads.
  const auto give_up = deadline_in(patience);
  const auto left = [&] {
    return std::max(Duration(0), std::chrono::duration_cast<Duration>(give_up - deadline_in(Duration(0))));
  };
  if (old != nullptr) {
    auto unwatched = std::make_shared<std::promise<void>>();
    std::future<void> done = unwatched->get_future();
    if (checkers_->add([old = std::move(old), unwatched] { old->unwatch(), unwatched->set_value(); }))
      done.wait_for(left());
  }
  lifecycle_->stop(left);
  looks_->stop(left());
  checkers_->stop(left());
}

}  // namespace hodei::server
