// The table of live jobs, with their memory and their numbers by state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/btree_map.h"
#include "src/core/fleet/workers.h"
#include "src/core/jobs/footprint.h"
#include "src/core/jobs/live.h"
#include "src/core/jobs/ports.h"
#include "src/core/jobs/rows.h"
#include "src/core/placement/placement.h"

namespace hodei::core {

class JobTable {
 public:
  using All = absl::btree_map<JobId, LiveJob>;

  JobTable(const JobPorts& ports, const Workers& workers, Placement& placement)
      : ports_(ports), workers_(workers), placement_(placement) {}

  // Null if it is not live.
  const LiveJob* find(JobId id) const;
  LiveJob* find(JobId id);
  const All& all() const { return all_; }
  int64_t count(JobState state) const { return counts_[static_cast<size_t>(state)]; }
  size_t bytes() const { return footprint_.bytes(); }  // memory used by live jobs
  uint64_t next_number() const { return next_number_; }

  void fold(const PutJob& write);
  void fold(const FinishJob& write);
  void fold(const PutNextJob& write) { next_number_ = write.next; }
  uint64_t digest() const;

 private:
  void attach(LiveJob& live);
  void detach(LiveJob& live);  // removes the effects of the old head on workers, keys and queue
  void occupy(const JobHead& head, int sign);

  const JobPorts& ports_;
  const Workers& workers_;
  Placement& placement_;
  All all_;
  Footprint footprint_;
  int64_t counts_[8] = {};
  uint64_t next_number_ = 1;
};

}  // namespace hodei::core
