// The store and the outlet of a loop, seen by the metrics on their way. The loop itself knows nothing of them.
#pragma once

#include "src/server/loop_core.h"
#include "src/server/metrics/server_metrics.h"

namespace hodei::server {

class MeasuredStore final : public store::Store {
 public:
  MeasuredStore(store::Store& store, const Clock& clock, ServerMetrics& metrics)
      : store_(store), clock_(clock), metrics_(metrics) {}

  absl::StatusOr<store::Epoch> new_epoch() override { return store_.new_epoch(); }
  absl::StatusOr<store::Epoch> epoch() override { return store_.epoch(); }
  absl::Status commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) override;
  absl::StatusOr<store::BatchNo> last_batch() override { return store_.last_batch(); }
  absl::Status load(const store::LoadVisitor& visit) override { return store_.load(visit); }

 private:
  store::Store& store_;
  const Clock& clock_;
  ServerMetrics& metrics_;
};

class MeasuredOutlet final : public Outlet {
 public:
  MeasuredOutlet(Outlet& outlet, ServerMetrics& metrics) : outlet_(outlet), metrics_(metrics) {}

  void carry_out(const core::Turn& turn, store::Epoch epoch) override;
  void forget_streams(const std::string& why) override { outlet_.forget_streams(why); }

 private:
  Outlet& outlet_;
  ServerMetrics& metrics_;
};

}  // namespace hodei::server
