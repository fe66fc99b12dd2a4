// Lists all workers that one provider has, now and then, and tells the engine: it knows which of them are not wanted.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "src/server/provisioning/call_pool.h"
#include "src/server/provisioning/current_provider.h"
#include "src/server/provisioning/engine_line.h"
#include "src/server/provisioning/worker_looks.h"

namespace hodei::server {

class ProviderInventory : public std::enable_shared_from_this<ProviderInventory> {
 public:
  static constexpr Duration kEvery = 60s;

  // The lists are made by `pool`. Workers that nobody asked for are adopted by `looks`.
  ProviderInventory(std::string name, std::shared_ptr<EngineLine> line, std::shared_ptr<CurrentProvider> current,
                    std::shared_ptr<CallPool> pool, std::shared_ptr<WorkerLooks> looks);

  // Starts a list when one is due; returns when the next one is.
  MonoTime tick(MonoTime now);
  void list_soon(MonoTime now);

 private:
  void list();

  const std::string name_;
  const std::shared_ptr<EngineLine> line_;
  const std::shared_ptr<CurrentProvider> current_;
  const std::shared_ptr<CallPool> pool_;
  const std::shared_ptr<WorkerLooks> looks_;
  std::mutex mutex_;  // guards what follows
  MonoTime due_{0};
  bool listing_ = false;
};

}  // namespace hodei::server
