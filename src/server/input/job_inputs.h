// The standard inputs of all jobs that take one, in <data>/stdin. Used by many threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "src/server/input/input_spool.h"

namespace hodei::server {

class JobInputs {
 public:
  static constexpr size_t kMaxInputs = 10'000;

  static absl::StatusOr<std::unique_ptr<JobInputs>> open(const std::string& folder, InputLimits limits,
                                                         const Clock& clock);

  // Those of jobs that have ended are removed: a server that died could not do it. Once, at the start; uses the disk.
  void keep_only(const std::function<bool(JobId)>& is_live);

  // Makes one if there is none. The job is known to be live and to take a standard input.
  absl::StatusOr<std::shared_ptr<InputSpool>> of(JobId job);
  // Before an execution of the job is sent to a worker: why it must not start; empty: it may.
  std::string prepare_start(JobId job);
  // Why a job that waits will fail instead of starting; empty: it will not.
  std::string trouble(JobId job) const;
  bool empty() const;

  // The job has ended. What is returned is to be removed, on a thread that may wait for a disk; null: nothing.
  std::shared_ptr<InputSpool> let_go(JobId job);

  // About once a second: inputs whose client stays away break off.
  void tick();

 private:
  std::shared_ptr<InputSpool> find(JobId job) const;  // null: there is none

  JobInputs(std::shared_ptr<InputStoreFacts> store, const Clock& clock) : store_(std::move(store)), clock_(clock) {}

  const std::shared_ptr<InputStoreFacts> store_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<JobId, std::shared_ptr<InputSpool>> spools_;
};

}  // namespace hodei::server
