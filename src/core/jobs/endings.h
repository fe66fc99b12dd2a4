// Ends jobs before they have finished: those that are cancelled, and those that exceed their timeout.
#pragma once

#include "src/core/jobs/moves.h"
#include "src/core/routing.h"

namespace hodei::core {

class Endings {
 public:
  Endings(JobTable& jobs, Moves& moves) : jobs_(jobs), moves_(moves) {}

  Answer decide(const Cancel& c, Turn& turn);
  void due(const Timer& timer, Turn& turn);  // a timeout is over
  // A job that waits and can never be placed.
  void fail(JobId job, Failure failure, const std::string& why, Turn& turn);

 private:
  JobTable& jobs_;
  Moves& moves_;
};

}  // namespace hodei::core
