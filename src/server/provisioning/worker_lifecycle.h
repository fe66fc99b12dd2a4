// Creates and destroys the workers of one provider.
//
// Every call to the provider is made by a pool of threads, never by who asked for it. A worker is destroyed only after
// its create has returned, however late that is, so that nothing is made behind a destroy.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "src/server/provisioning/call_pool.h"
#include "src/server/provisioning/current_provider.h"
#include "src/server/provisioning/made_workers.h"
#include "src/server/provisioning/making_reports.h"
#include "src/server/provisioning/worker_looks.h"

namespace hodei::server {

// Makes the one-time token with which a worker registers, and blocks until it is stored.
using MakeWorkerToken = std::function<absl::StatusOr<std::string>(const WorkerId&)>;

class WorkerLifecycle : public std::enable_shared_from_this<WorkerLifecycle> {
 public:
  static constexpr size_t kCreators = 4, kDestroyers = 2;
  static constexpr size_t kMaxWaiting = 20'000;  // of each of them
  static constexpr Duration kLongestBackOff = 30s;

  // What it works with; the looks begin when a worker is there.
  struct Parts {
    const Clock& clock;
    std::shared_ptr<CurrentProvider> current;
    std::shared_ptr<MadeWorkers> workers;
    std::shared_ptr<MakingReports> reports;
    std::shared_ptr<WorkerLooks> looks;
    MakeWorkerToken make_token;
  };
  explicit WorkerLifecycle(Parts parts) : parts_(std::move(parts)) {}

  // On the loop's thread.
  void create(const core::WorkerRecordPtr& record);
  void destroy(const WorkerId& id, const std::string& handle);
  void registered(const WorkerId& id);

  // Starts the looks and the destroys that are due; returns when the next one is.
  MonoTime tick(MonoTime now);

  void create_no_more();
  // Destroys all workers that there are, and creates none any more.
  void destroy_all();
  // False: something was left when the time was over.
  bool wait_until_empty(std::chrono::system_clock::time_point give_up);
  // How long the calls under way may take is asked for each pool.
  void stop(const std::function<Duration()>& patience);

 private:
  void make(const WorkerId& id);
  absl::StatusOr<providers::WorkerHandle> ask_provider(const core::WorkerRecord& record);
  void made(const WorkerId& id, const absl::StatusOr<providers::WorkerHandle>& handle);
  void queue_destroy(const WorkerId& id);
  void end(const WorkerId& id);

  const Parts parts_;
  CallPool creators_{kCreators, kMaxWaiting};
  CallPool destroyers_{kDestroyers, kMaxWaiting};
};

}  // namespace hodei::server
