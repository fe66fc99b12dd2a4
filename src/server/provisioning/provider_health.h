// Checks the health of one provider, now and then and when calls to it have failed, and tells the engine.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/server/provisioning/call_pool.h"
#include "src/server/provisioning/current_provider.h"
#include "src/server/provisioning/engine_line.h"

namespace hodei::server {

class ProviderHealth : public std::enable_shared_from_this<ProviderHealth> {
 public:
  static constexpr Duration kEvery = 30s;
  static constexpr Duration kEveryWhenUnwell = 3s;  // what came back is to be used soon

  // The checks are made by `pool`.
  ProviderHealth(std::string name, std::shared_ptr<EngineLine> line, const Clock& clock,
                 std::shared_ptr<CurrentProvider> current, std::shared_ptr<CallPool> pool);

  // Starts a check when one is due; returns when the next one is.
  MonoTime tick(MonoTime now);
  void check_soon();
  // A call has failed. When the provider is back, nobody waits for the end of a back-off.
  void suspect();

  // For people: `done` is called by a thread of the pool, or at once when that is too busy.
  using HealthTo = std::function<void(absl::StatusOr<providers::Health>)>;
  void check(HealthTo done);

 private:
  void check_and_tell();
  core::ProviderSeen look();
  bool hangs_now(MonoTime now);  // with the mutex held; true once for each check that hangs

  const std::string name_;
  const std::shared_ptr<EngineLine> line_;
  const Clock& clock_;
  const std::shared_ptr<CurrentProvider> current_;
  const std::shared_ptr<CallPool> pool_;
  std::mutex mutex_;           // guards what follows
  core::ProviderFacts facts_;  // as last seen
  MonoTime due_{0};
  MonoTime checking_since_ = kNever;
  bool hung_told_ = false;
  bool is_unwell_ = false;  // the last check said so, or calls failed since
};

}  // namespace hodei::server
