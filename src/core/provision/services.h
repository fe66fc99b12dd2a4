// Provisioning as the fleet, placement and jobs see it.
#pragma once

#include <string>

#include "src/core/fleet/ports.h"
#include "src/core/jobs/ports.h"
#include "src/core/placement/ports.h"
#include "src/core/provision/creation.h"
#include "src/core/provision/explanations.h"
#include "src/core/provision/maker_reports.h"
#include "src/core/provision/scale_down.h"
#include "src/core/provision/setbacks.h"

namespace hodei::core {

class FleetMakers final : public Makers {
 public:
  FleetMakers(const ProvisionContext& context, ScaleDown& scale_down) : context_(context), scale_down_(scale_down) {}

  void count(const WorkerRecord* before, const WorkerRecord* after, size_t executions) override;
  void look_again() override { context_.making.look_again(); }
  void registered(const WorkerId& worker, Turn& turn) override;
  void has_come(LiveWorker& worker, Turn& turn) override { context_.reports.has_come(worker, turn); }
  void has_started_a_job(const LiveWorker& worker) override;
  void is_unfit(const LiveWorker& worker, Turn& turn) override;
  void left(LiveWorker& worker, Turn& turn) override { scale_down_.left(worker, turn); }
  void destroy(LiveWorker& worker, Turn& turn) override { context_.setbacks.destroy(worker, turn); }
  void give_up(LiveWorker& worker, const std::string& reason, Turn& turn) override;
  void stall(Duration length) override;

 private:
  const ProvisionContext& context_;
  ScaleDown& scale_down_;
};

class WorkerSupply final : public Supply {
 public:
  explicit WorkerSupply(const ProvisionContext& context) : context_(context) {}

  void want(const Lane& lane) override { context_.creation.want(lane); }
  void look_soon() override { context_.making.due = true; }

 private:
  const ProvisionContext& context_;
};

class JobSuppliers final : public Suppliers {
 public:
  JobSuppliers(const ProvisionContext& context, ScaleDown& scale_down, const Explanations& explanations)
      : context_(context), scale_down_(scale_down), explanations_(explanations) {}

  void count_executions(const std::string& provider, int change) override;
  void retire_if_used(LiveWorker& worker, Turn& turn) override { scale_down_.retire_if_used(worker, turn); }
  std::string unknown_place(const Shape& shape) const override { return explanations_.unknown_place(shape); }
  absl::Status check_abilities(const Shape& shape) const override { return explanations_.check_abilities(shape); }

 private:
  const ProvisionContext& context_;
  ScaleDown& scale_down_;
  const Explanations& explanations_;
};

}  // namespace hodei::core
