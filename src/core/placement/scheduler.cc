#include "src/core/placement/scheduler.h"

#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/core/placement/placer.h"
#include "src/core/placement/room_maker.h"

namespace hodei::core {
namespace {

std::string as_text(const SchedulerConfig& c) {
  return cat("strategy ", static_cast<int>(c.strategy), ", weights ", c.capacity, " ", c.load, " ", c.affinity, " ",
             c.zone, " ", c.history, ", threshold ", c.threshold, c.packing == Packing::Pack ? ", pack" : ", spread",
             c.preemption ? ", with preemption" : ", without preemption", ", reserve after ",
             c.reserve_after.count() / 1000, " ms");
}

}  // namespace

Answer Scheduler::decide(const ConfigureScheduler& c, Turn& turn) {
  SchedulerConfig config = config_;
  const auto weight = [](const std::optional<double>& wanted, const char* field, double& into) -> absl::Status {
    if (!wanted) return absl::OkStatus();
    RETURN_IF_ERROR(check_within(field, *wanted, 0, kMaxScoreWeight));
    into = bounded(*wanted, 0, kMaxScoreWeight, 0);  // without a negative zero
    return absl::OkStatus();
  };
  if (c.strategy) {
    if (*c.strategy < Strategy::Smart || *c.strategy > Strategy::Affinity) {
      return bad_field("strategy", "must be one of smart, round_robin, least_connections, resource_priority, affinity");
    }
    config.strategy = *c.strategy;
  }
  if (c.packing) {
    if (*c.packing != Packing::Spread && *c.packing != Packing::Pack)
      return bad_field("packing", "must be spread or pack");
    config.packing = *c.packing;
  }
  if (c.preemption) config.preemption = *c.preemption;
  if (c.reserve_after) {
    if (*c.reserve_after < Duration(0) || *c.reserve_after > kMaxReserveAfter) {
      return bad_field("reserve_after_ms", "must be between 0 (never) and ", kMaxReserveAfter.count() / 1000);
    }
    config.reserve_after = *c.reserve_after;
  }
  RETURN_IF_ERROR(weight(c.capacity, "weight_capacity", config.capacity));
  RETURN_IF_ERROR(weight(c.load, "weight_load", config.load));
  RETURN_IF_ERROR(weight(c.affinity, "weight_affinity", config.affinity));
  RETURN_IF_ERROR(weight(c.zone, "weight_zone", config.zone));
  RETURN_IF_ERROR(weight(c.history, "weight_history", config.history));
  RETURN_IF_ERROR(weight(c.threshold, "threshold", config.threshold));
  if (config != config_) {
    turn.write(PutScheduler{config});
    audit_.record_act({"scheduler.set", "scheduler", as_text(config)}, turn);
    room_maker_.check_reservations(turn, true);
    room_maker_.preempt_later();
    placer_.fill_all(turn);
  }
  return config;
}

uint64_t Scheduler::digest() const {
  Encoder out;
  const SchedulerConfig& s = config_;
  out.u64(static_cast<uint64_t>(s.strategy)).u64(static_cast<uint64_t>(s.packing)).u64(s.preemption);
  out.i64(s.reserve_after.count());
  for (double v : {s.capacity, s.load, s.affinity, s.zone, s.history, s.threshold})
    out.i64(bounded_whole(v * 1000, 0, INT64_MAX));
  return hash64(out.bytes());
}

}  // namespace hodei::core
