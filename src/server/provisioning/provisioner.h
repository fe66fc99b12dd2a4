// Makes workers as the engine wants them, through the providers that are stored, and tells the engine what became of
// them.
//
// The loop's thread only leaves wishes here. One thread, the clerk, keeps a desk for every provider and starts what is
// due; each desk has a few threads that call its provider. Must outlive the loop.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "src/server/carrier.h"
#include "src/server/provisioning/engine_line.h"
#include "src/server/provisioning/provider_desk.h"

namespace hodei::server {

// What it works with.
struct ProvisionerSetup {
  using Make = std::function<absl::StatusOr<std::unique_ptr<providers::Provider>>(const providers::ProviderConfig&,
                                                                                  const providers::Installation&)>;
  Make make;
  providers::Installation installation;
  OnMaking on_making;  // may be empty; called from any thread
};

class Provisioner final : public WorkerMaker {
 public:
  static constexpr Duration kStopPatience = 800ms;
  static constexpr size_t kMaxEarly = 100'000;  // wishes that came before the providers were known

  Provisioner(EngineLine::Post post, const Clock& clock, ProvisionerSetup setup);
  ~Provisioner() override { stop(); }

  // `server_address` is where workers find the server unless their provider says otherwise. Wishes that came earlier
  // wait.
  void start(const std::string& server_address, OpenDoor open_door = nullptr);
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
  // Would this one work? Makes it and forgets it.
  void check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done);
  void check_health(const std::string& name, ProviderDesk::HealthTo done);
  void worker_logs(const core::WorkerRecord& record, size_t tail, ProviderDesk::LogsTo done);

  // For a clock that is moved by hand: look what is due now.
  void wake();

 private:
  using Rows = std::vector<core::ProviderView>;
  using Wish = std::variant<core::CreateWorker, core::DestroyWorker>;
  struct Place {
    core::ProviderRow row;
    std::shared_ptr<ProviderDesk> desk;
  };

  void run();
  void apply(const Rows& rows);
  void keep_desk(const core::ProviderView& view);
  void drop_desks_not_in(const Rows& rows);
  void grant_early();
  std::shared_ptr<ProviderDesk> desk(const std::string& name);
  std::vector<std::shared_ptr<ProviderDesk>> desks();
  bool is_early(const Wish& wish);  // kept for later

  const Clock& clock_;
  const ProvisionerSetup setup_;
  const std::shared_ptr<EngineLine> line_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool woken_ = false;
  bool loaded_ = false;     // the providers are known
  bool ask_again_ = false;  // for them: there was no store
  std::string server_address_;
  OpenDoor open_door_;
  std::optional<Rows> news_;
  std::vector<Wish> early_;
  std::map<std::string, Place> places_;
  Crew checkers_{2, 100};
  std::thread clerk_;
};

}  // namespace hodei::server
