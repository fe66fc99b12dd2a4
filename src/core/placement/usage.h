// What live jobs and their executions count for: their concurrency keys and their tenants.
#pragma once

#include <string>

#include "src/core/jobs/job.h"
#include "src/core/placement/keys.h"
#include "src/core/placement/roster.h"

namespace hodei::core {

class Usage {
 public:
  Usage(Roster& roster, ConcurrencyKeys& keys) : roster_(roster), keys_(keys) {}

  // A job has become live (+1) or has ended (-1).
  void count_job(const JobHead& head, int sign);
  // An execution was dispatched (+1), or is proven to have ended (-1).
  void count_execution(const JobHead& head, int sign);
  // Whether live jobs have this key.
  bool key_in_use(const JobHead& head) const;

 private:
  Roster& roster_;
  ConcurrencyKeys& keys_;
};

}  // namespace hodei::core
