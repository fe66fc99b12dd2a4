// What jobs ask of the modules that are built on them.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/core/fleet/live.h"
#include "src/core/jobs/job.h"
#include "src/core/jobs/owner.h"
#include "src/core/turn.h"

namespace hodei::core {

// Provisioning: pools and providers that jobs name.
class Suppliers {
 public:
  virtual ~Suppliers() = default;
  virtual void count_executions(const std::string& provider, int change) = 0;
  // Ends a worker that was made for one job, which it has had.
  virtual void retire_if_used(LiveWorker& worker, Turn& turn) = 0;
  // As text; empty: pool and provider are known.
  virtual std::string unknown_place(const Shape& shape) const = 0;
  // A job that names who makes its worker, and asks for what none of those workers can do, would wait for ever.
  virtual absl::Status check_abilities(const Shape& shape) const = 0;
};

// A module that owns jobs.
class JobOwner {
 public:
  virtual ~JobOwner() = default;
  // The owner asked for this attempt with PrepareJob, and has not got it yet.
  virtual bool waits_for(const Owner& owner, uint32_t attempt) const = 0;
  // The owner gets the job that it has asked for, or the reason why there is none. It no longer waits for it.
  virtual void job_came(const Owner& owner, uint32_t attempt, const absl::StatusOr<JobId>& job, Turn& turn) = 0;
  // In the decision in which the job ends.
  virtual void job_ended(const Owner& owner, const JobHead& job, Turn& turn) = 0;
};

struct JobPorts {
  Suppliers* suppliers = nullptr;
  std::map<OwnerModule, JobOwner*> owners = {};
};

}  // namespace hodei::core
