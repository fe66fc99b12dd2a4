// Sends jobs to workers: those that placement has chosen, and those that a person assigns.
#pragma once

#include "src/core/audit/audit.h"
#include "src/core/jobs/moves.h"
#include "src/core/routing.h"

namespace hodei::core {

class Dispatches {
 public:
  Dispatches(JobTable& jobs, const Workers& workers, Placement& placement, Moves& moves, Audit& audit)
      : jobs_(jobs), workers_(workers), placement_(placement), moves_(moves), audit_(audit) {}

  Answer decide(const Assign& c, Turn& turn);

  void dispatch(JobId job, LiveWorker& worker, Decision decision, Turn& turn);

 private:
  absl::Status check(const LiveJob& job, const LiveWorker& worker, const Turn& turn) const;
  void archive(Draft& draft, Turn& turn);  // moves what happened before the next dispatch out of the head
  void record_delivery(const JobHead& job, const WorkerId& worker, Turn& turn);

  JobTable& jobs_;
  const Workers& workers_;
  Placement& placement_;
  Moves& moves_;
  Audit& audit_;
};

}  // namespace hodei::core
