// Answers about several modules at once: why a job waits, and how the queue and the system are. They leave with their
// batch like every other reply, so nobody sees what is not durable.
#pragma once

#include <string>
#include <string_view>

#include "src/core/fleet/fleet.h"
#include "src/core/foundation.h"
#include "src/core/jobs/jobs.h"
#include "src/core/overview/commands.h"
#include "src/core/placement/explain.h"
#include "src/core/placement/placement.h"
#include "src/core/provision/provisioning.h"
#include "src/core/routing.h"

namespace hodei::core {

class Overview {
 public:
  explicit Overview(const Foundation& on)
      : fleet_(on.fleet), placement_(on.placement), jobs_(on.jobs), provisioning_(on.provisioning) {}

  Answer decide(const ExplainJob& q, Turn& turn) const;
  Answer decide(const WhyWaiting& q, Turn& turn) const;
  Answer decide(const PreviewJob& q, Turn& turn) const;
  Answer decide(const DescribeQueue& q, Turn& turn) const;
  Answer decide(const DescribeSystem& q, Turn& turn) const;

 private:
  // A quota, limit or rate that keeps the job from starting, whatever workers there are. Empty reason: none.
  struct Hold {
    std::string reason;
    std::string_view unblock;
  };
  Hold held_by_limits(const LiveJob& job, const Turn& turn) const;
  // Older ones that may be given what it waits for; if they are too many to count, all older ones of its class.
  int64_t jobs_ahead_of(const LiveJob& job) const;
  Explanation explain_applicant(const Applicant& job) const;
  std::string making_room_for(const LaneKey& lane, const Turn& turn) const;

  const Fleet& fleet_;
  const Placement& placement_;
  const Jobs& jobs_;
  const Provisioning& provisioning_;
};

}  // namespace hodei::core
