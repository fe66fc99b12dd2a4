// Looks at the workers of one provider: often until they register, seldom after that, and at once when the provider
// says that something has changed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/server/provisioning/call_pool.h"
#include "src/server/provisioning/current_provider.h"
#include "src/server/provisioning/made_workers.h"
#include "src/server/provisioning/making_reports.h"

namespace hodei::server {

class WorkerLooks : public std::enable_shared_from_this<WorkerLooks> {
 public:
  static constexpr size_t kThreads = 2;
  static constexpr size_t kMaxWaiting = 20'000;
  static constexpr Duration kEvery = 1s;  // until it registers
  static constexpr Duration kAtRegisteredEvery = 10s;
  static constexpr Duration kQuietBefore = 15s;  // a worker that runs and does not register, before it is told
  static constexpr size_t kMaxLogBytes = size_t{1} << 20;

  WorkerLooks(const Clock& clock, std::shared_ptr<CurrentProvider> current, std::shared_ptr<MadeWorkers> workers,
              std::shared_ptr<MakingReports> reports);

  // Queues a look at this worker. With the workers' mutex held.
  void add(const WorkerId& id, MadeWorker& worker);
  // The provider says so.
  void changed(const std::string& worker);
  // Workers of an earlier life of this server are looked at like any other.
  void adopt(const std::vector<providers::OwnedWorker>& owned);

  // For people: `done` is called by a thread of the pool, or at once when that is too busy.
  using LogsTo = std::function<void(absl::StatusOr<std::string>)>;
  void read_log(const WorkerId& worker, const std::string& handle, size_t tail, LogsTo done);

  void stop(Duration patience) { threads_.stop(patience); }

 private:
  void look(const WorkerId& id);
  void take_status(const WorkerId& id, const absl::StatusOr<providers::WorkerStatus>& status);
  std::string held_up_words(const providers::WorkerStatus& status, const MadeWorker& worker) const;

  const Clock& clock_;
  const std::shared_ptr<CurrentProvider> current_;
  const std::shared_ptr<MadeWorkers> workers_;
  const std::shared_ptr<MakingReports> reports_;
  CallPool threads_{kThreads, kMaxWaiting};
};

}  // namespace hodei::server
