// The registration of workers: with a token the first time, then with their session.
#pragma once

#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/fleet/tokens.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Registrations {
 public:
  Registrations(const EngineConfig& config, const FleetPorts& ports, Workers& workers, Tokens& tokens, Audit& audit)
      : config_(config), ports_(ports), workers_(workers), tokens_(tokens), audit_(audit) {}

  Answer decide(const RegisterWorker& c, Turn& turn);

 private:
  // Each completes the record, or says why the worker is not let in.
  absl::Status with_session(const RegisterWorker& c, const LiveWorker* known, WorkerRecord& record,
                            const Turn& turn) const;
  absl::Status with_token(const RegisterWorker& c, LiveWorker* known, WorkerRecord& record, Turn& turn);
  absl::Status check_room(const WorkerInfo& info, Turn& turn);
  void note_fresh(LiveWorker& worker, Turn& turn);

  const EngineConfig& config_;
  const FleetPorts& ports_;
  Workers& workers_;
  Tokens& tokens_;
  Audit& audit_;
};

}  // namespace hodei::core
