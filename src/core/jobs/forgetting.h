// Deletes finished jobs.
#pragma once

#include "src/core/audit/audit.h"
#include "src/core/jobs/table.h"
#include "src/core/routing.h"

namespace hodei::core {

class Forgetting {
 public:
  Forgetting(const JobTable& jobs, Audit& audit) : jobs_(jobs), audit_(audit) {}

  Answer decide(const ForgetJobs& c, Turn& turn);

 private:
  const JobTable& jobs_;
  Audit& audit_;
};

}  // namespace hodei::core
