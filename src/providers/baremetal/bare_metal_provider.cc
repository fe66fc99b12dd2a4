#include "src/providers/baremetal/bare_metal_provider.h"

#include "src/base/status.h"

namespace hodei::providers {
namespace {

class BareMetalProvider final : public Provider {
 public:
  explicit BareMetalProvider(std::string name) : name_(std::move(name)) {}

  Capabilities capabilities() const override { return {.makes_workers = false}; }

  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec&) override {
    return absl::FailedPreconditionError(cat(
        "provider ", name_, " does not create workers: start one with HODEI_WORKER_PROVIDER=", name_, " hodei agent"));
  }
  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle&) override { return WorkerStatus{}; }
  absl::Status destroy_worker(const WorkerHandle&) override { return absl::OkStatus(); }
  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t) override {
    return absl::NotFoundError(
        cat("worker ", handle.worker_id, " was started by hand; look for its log where it was started"));
  }
  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override { return std::vector<OwnedWorker>(); }
  Health health_check() override { return {HealthState::Healthy, ""}; }
  Duration estimated_startup_time() const override { return Duration(0); }

 private:
  const std::string name_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> make_bare_metal_provider(const ProviderConfig& config, const Installation&) {
  if (!config.options.empty()) {
    return bad_field(cat("options.", config.options.begin()->first),
                     "is unknown; a bare-metal provider has no options");
  }
  return std::make_unique<BareMetalProvider>(config.name);
}

}  // namespace hodei::providers
