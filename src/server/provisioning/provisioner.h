// Makes workers as the engine wants them, through the providers that are stored, and tells the engine what became of
// them.
//
// The loop's thread only leaves wishes here. One thread keeps an adapter for every provider and starts what is due;
// each adapter has a few threads that call its provider. Must outlive the loop.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "src/server/carrier.h"
#include "src/server/provisioning/early_wishes.h"
#include "src/server/provisioning/engine_line.h"
#include "src/server/provisioning/provider_adapters.h"

namespace hodei::server {

class Provisioner final : public WorkerMaker {
 public:
  static constexpr Duration kStopPatience = 800ms;

  Provisioner(EngineLine::Post post, const Clock& clock, ProvisionerSetup setup);
  ~Provisioner() override { stop(); }

  // `server_address` is where workers find the server unless their provider says otherwise. Wishes that came earlier
  // wait.
  void start(const std::string& server_address, OpenWorkerPort open_port = nullptr);
  void make_no_more();  // what is there stays
  // Destroys every worker of every provider, and makes no more. False: the time was not enough.
  bool end_all(Duration patience);
  // What is under way gets a moment; what hangs is left behind.
  void stop();

  void create(const core::CreateWorker& wish) override;
  void destroy(const core::DestroyWorker& wish) override;
  void providers_changed() override;
  void registered(const WorkerId& worker) override;

  // `done` comes from a thread that may block a little, or at once. After stop() it may never come.
  // Would this provider work? Makes it and forgets it.
  void check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done);
  void check_health(const std::string& name, ProviderHealth::HealthTo done);
  void worker_logs(const core::WorkerRecord& record, size_t tail, WorkerLooks::LogsTo done);

  // For a clock that is moved by hand: look what is due now.
  void wake();

 private:
  void run();
  void grant_early();

  const Clock& clock_;
  const std::shared_ptr<EngineLine> line_;
  ProviderAdapters adapters_;
  EarlyWishes early_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  bool woken_ = false;
  bool ask_again_ = false;  // for the providers: there was no store
  std::optional<ProviderAdapters::Rows> news_;
  std::thread thread_;
};

}  // namespace hodei::server
