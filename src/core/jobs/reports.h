// What workers say about executions. A report about any execution but the current one changes nothing.
#pragma once

#include "src/core/jobs/moves.h"
#include "src/core/jobs/requeues.h"
#include "src/core/routing.h"

namespace hodei::core {

class Reports {
 public:
  Reports(JobTable& jobs, Fleet& fleet, Moves& moves, Requeues& requeues)
      : jobs_(jobs), workers_(fleet.workers), pauses_(fleet.pauses), moves_(moves), requeues_(requeues) {}

  Answer decide(const Report& c, Turn& turn);

  bool started(const WorkerId& worker, const StartedReport& r, Turn& turn);

 private:
  bool progressed(const WorkerId& worker, const ProgressReport& r, Turn& turn);
  bool ended(const WorkerId& worker, const ResultReport& r, Turn& turn);
  void end(const JobHead& job, const ResultReport& r, Turn& turn);
  void interrupt(const ResultReport& r, const WorkerId& worker, Turn& turn);

  JobTable& jobs_;
  Workers& workers_;
  Pauses& pauses_;
  Moves& moves_;
  Requeues& requeues_;
};

}  // namespace hodei::core
