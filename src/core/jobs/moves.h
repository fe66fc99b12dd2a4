// Stores a job whose state has changed, announces the change, and uses the room that it frees for other jobs.
#pragma once

#include <string>

#include "src/core/fleet/fleet.h"
#include "src/core/jobs/draft.h"
#include "src/core/jobs/table.h"
#include "src/core/placement/placement.h"

namespace hodei::core {

class Moves {
 public:
  Moves(const JobPorts& ports, JobTable& jobs, Fleet& fleet, Placement& placement)
      : ports_(ports), jobs_(jobs), fleet_(fleet), placement_(placement) {}

  // Stores a job that changed its state, announces it, and uses the room it may have freed.
  void store(Draft& draft, Turn& turn);
  // Sets the text that people read while a job waits for a worker.
  void note(JobId job, std::string reason, Turn& turn);
  // Has the current execution of a job told to end.
  void end_execution(const JobHead& job, bool timed_out, Turn& turn) const;

  void await_timeout(const JobHead& job, Turn& turn) const;
  void resume(Turn& turn);
  void due(const Timer& timer, Turn& turn);  // a backoff is over

 private:
  void await_backoff(const JobHead& job, Turn& turn) const;
  void use_room(const JobHead& job, const WorkerId& freed, Turn& turn);

  const JobPorts& ports_;
  JobTable& jobs_;
  Fleet& fleet_;
  Placement& placement_;
};

// The current execution of a live job, if it is this worker's; null: it is not.
const JobHead* current(const JobTable& jobs, const WorkerId& worker, ExecutionId execution);

}  // namespace hodei::core
