// Decides whether a new start of a worker may replace an earlier one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/core/config.h"
#include "src/core/fleet/incarnation.h"
#include "src/core/fleet/live.h"
#include "src/core/turn.h"

namespace hodei::core {

// A start that claims to be this worker. `stopped`: see OpenStream.
struct Successor {
  Incarnation who;
  const std::vector<std::string>& stopped;
  bool has_token = false;  // a person's word that it replaces the other
};

// Two starts of one worker must not have executions at the same time, or a job could run twice. One that cannot prove
// that its predecessor's have ended waits until their lease has, however it was let in.
absl::Status check_succession(const LiveWorker& worker, const Successor& next, const EngineConfig& config,
                              const Turn& turn);

// It ended because it had not connected in time; its session is still good.
inline bool comes_late(const LiveWorker& worker) {
  return worker.state == WorkerState::Terminated && !worker.record->info.made && !worker.record->has_left_for_good();
}

inline void begin_again(WorkerRecord& record) {
  record.state = WorkerState::Connecting;
  record.info.ended = {};
  record.info.end_reason.clear();
}

bool has_stopped(const std::vector<std::string>& stopped, const std::string& incarnation);

}  // namespace hodei::core
