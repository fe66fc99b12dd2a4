// Placement as the fleet sees it.
#pragma once

#include "src/core/config.h"
#include "src/core/fleet/ports.h"
#include "src/core/placement/placer.h"
#include "src/core/placement/room_maker.h"
#include "src/core/placement/roster.h"
#include "src/core/placement/scheduler.h"

namespace hodei::core {

class WorkerRoom final : public RoomForJobs {
 public:
  WorkerRoom(const EngineConfig& config, const Scheduler& scheduler, Roster& roster, Placer& placer,
             RoomMaker& room_maker)
      : config_(config), scheduler_(scheduler), roster_(roster), placer_(placer), room_maker_(room_maker) {}

  void record(LiveWorker& worker, const WorkerRecordPtr& record, bool is_listed) override;
  void remove(LiveWorker& worker) override;
  void refresh(LiveWorker& worker) override { roster_.workers.refresh(&worker); }
  absl::Status check_kind(const WorkerInfo& info) const override;
  void fill(LiveWorker& worker, Turn& turn) override { placer_.fill(worker, turn); }
  void fill_later(const WorkerId& worker) override { placer_.fill_later(worker); }
  void check_reservations(Turn& turn) override { room_maker_.check_reservations(turn, true); }
  bool has_threshold() const override { return scheduler_.config().threshold > 0; }

 private:
  const EngineConfig& config_;
  const Scheduler& scheduler_;
  Roster& roster_;
  Placer& placer_;
  RoomMaker& room_maker_;
};

}  // namespace hodei::core
