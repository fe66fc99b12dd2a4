// Where a Pending job waits: in its lane, on its concurrency key, or for the end of a backoff.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "src/core/jobs/live.h"
#include "src/core/placement/keys.h"
#include "src/core/placement/roster.h"

namespace hodei::core {

class WaitingQueue {
 public:
  WaitingQueue(Roster& roster, ConcurrencyKeys& keys) : roster_(roster), keys_(keys) {}

  void enter(LiveJob& job);
  void leave(LiveJob& job);
  // Move a job whose backoff is over or whose key has room to its lane, or one whose key is full to that key.
  void queue(LiveJob& job);
  void park(LiveJob& job);

  const std::set<std::pair<WallTime, JobId>>& delayed() const { return delayed_; }
  int64_t parked() const { return parked_; }
  int64_t in_class(Priority priority) const { return by_class_[static_cast<size_t>(priority) - 1]; }
  // How many wait in a class with a number below that of the block that the job is in.
  int64_t before_block_of(JobId job, Priority priority) const;
  static JobId first_of_block(JobId job) { return JobId{number(job) >> kBlockBits << kBlockBits}; }
  int64_t in_namespace(const std::string& ns) const;
  const std::map<std::string, int64_t>& by_namespace() const { return by_namespace_; }

 private:
  static constexpr unsigned kBlockBits = 10;

  void count(const JobHead& head, int64_t sign);
  void take_out(LiveJob& job);

  Roster& roster_;
  ConcurrencyKeys& keys_;
  std::set<std::pair<WallTime, JobId>> delayed_;
  int64_t parked_ = 0;
  int64_t by_class_[kPriorities] = {};
  // The same for each block of job numbers, so that the place of a job is found without looking at all jobs.
  absl::btree_map<uint64_t, std::array<uint32_t, kPriorities>> by_block_;
  std::map<std::string, int64_t> by_namespace_;
};

}  // namespace hodei::core
