// New jobs: from clients, and from modules that own them.
#pragma once

#include <span>

#include "src/core/config.h"
#include "src/core/jobs/known_keys.h"
#include "src/core/jobs/table.h"
#include "src/core/routing.h"

namespace hodei::core {

class Submissions {
 public:
  Submissions(const EngineConfig& config, const JobPorts& ports, JobTable& jobs, KnownKeys& keys, Placement& placement)
      : config_(config), ports_(ports), jobs_(jobs), keys_(keys), placement_(placement) {}

  Answer decide(const Submit& c, Turn& turn);
  Answer decide(const SubmitFor& c, Turn& turn);

 private:
  absl::Status check(std::span<const NewJob> jobs) const;
  absl::Status check_shapes(std::span<const NewJob> jobs) const;
  absl::Status check_pending(std::span<const NewJob> jobs) const;
  absl::StatusOr<JobId> submit_for(const Owner& owner, const NewJob& job, Turn& turn);
  JobPtr submit(const NewJob& job, const Owner& owner, JobId id, Turn& turn);
  Submitted::One submit_one(const NewJob& job, JobId& next, Turn& turn);

  const EngineConfig& config_;
  const JobPorts& ports_;
  JobTable& jobs_;
  KnownKeys& keys_;
  Placement& placement_;
};

}  // namespace hodei::core
