// One provider at work: what it is asked to make and to end, what it has made, and how it is.
//
// Every call to the provider is made by a crew, never by who asked for it. Nothing is called while the mutex is held. A
// worker is destroyed only after its create has returned, however late that is, so that nothing is made behind a
// destroy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "src/providers/provider.h"
#include "src/server/provisioning/crew.h"
#include "src/server/provisioning/engine_line.h"
#include "src/server/provisioning/making_event.h"

namespace hodei::server {

// Makes the server listen on a further address of this machine, for workers only; OK when it does already.
using OpenDoor = std::function<absl::Status(const std::string& host)>;

class ProviderDesk : public std::enable_shared_from_this<ProviderDesk> {
 public:
  static constexpr size_t kCreators = 4, kEnders = 2, kLookers = 2;
  static constexpr size_t kMaxWaiting = 20'000;  // of each crew
  static constexpr Duration kHealthEvery = 30s;
  static constexpr Duration kHealthEveryWhenUnwell = 3s;  // what came back is to be used soon
  static constexpr Duration kQuietBefore = 15s;           // a worker that runs and does not register, before it is told
  static constexpr Duration kInventoryEvery = 60s;
  static constexpr Duration kLookEvery = 1s;  // until it registers
  static constexpr Duration kLookAtRegisteredEvery = 10s;
  static constexpr Duration kTokenPatience = 10s;
  static constexpr Duration kLongestBackOff = 30s;
  static constexpr size_t kMaxLogBytes = size_t{1} << 20;

  ProviderDesk(std::string name, std::shared_ptr<EngineLine> line, const Clock& clock, OnMaking on_making);

  // From now on with this provider; an error: there is none, and this is why. What was made stays known.
  void use(absl::StatusOr<std::shared_ptr<providers::Provider>> provider);
  void set_server_address(const std::string& address, OpenDoor open_door);
  // The engine knows nothing of its health and of what it has: look at once.
  void look_at_everything();
  // Starts what is due; answers when the next thing is.
  MonoTime tick();
  // Destroys all that it has, and makes nothing more. False: something was left when the time was over.
  void end_all();
  void make_no_more();
  bool wait_until_empty(std::chrono::system_clock::time_point give_up);
  // Forgets everything; calls under way get this long.
  void close(Duration patience);

  // On the loop's thread.
  void create(const core::WorkerRecordPtr& record);
  void destroy(const WorkerId& worker, const std::string& handle);
  void registered(const WorkerId& worker);

  // For people: `done` is called by a thread of the crew, or at once when that is too busy.
  using HealthTo = std::function<void(absl::StatusOr<providers::Health>)>;
  void check_health(HealthTo done);
  using LogsTo = std::function<void(absl::StatusOr<std::string>)>;
  void worker_logs(const WorkerId& worker, const std::string& handle, size_t tail, LogsTo done);

 private:
  enum class Step { Queued, Creating, There, ToDestroy, Destroying };
  struct Held {
    Step step = Step::Queued;
    core::WorkerRecordPtr record;  // null: found, not asked for
    std::string handle;
    MonoTime asked{0};
    MonoTime runs_since = kNever;  // and has not registered
    MonoTime due = kNever;         // the next look, or the next attempt to destroy
    uint32_t tries = 0;            // to destroy
    bool destroy_wanted = false;   // as soon as its create returns
    bool runs_told = false;
    std::string held_up;  // as last told to the engine
    bool registered = false;
    bool looking = false;
    bool look_again = false;
  };
  using ProviderPtr = std::shared_ptr<providers::Provider>;

  // By the crews.
  void make(const WorkerId& worker);
  void made(const WorkerId& worker, const absl::StatusOr<providers::WorkerHandle>& handle);
  void end(const WorkerId& worker);
  void look(const WorkerId& worker);
  std::string held_up_words(const providers::WorkerStatus& status, const Held& held) const;  // with the mutex held
  void take_status(const WorkerId& worker, const absl::StatusOr<providers::WorkerStatus>& status);
  void check_up();
  void take_inventory();
  void adopt(const std::vector<providers::OwnedWorker>& owned);

  void changed(const std::string& worker);  // the provider says so
  void queue_end(const WorkerId& worker);
  void failed(const WorkerId& worker, MonoTime asked, core::MakingFailure kind, const std::string& why);
  void start_checks(MonoTime now);  // with the mutex held
  bool hangs_now(MonoTime now);     // likewise; true once for each check that hangs
  absl::StatusOr<ProviderPtr> provider();
  absl::Status open_doors(providers::Provider& provider);
  void add_look(const WorkerId& worker, Held& held);  // likewise
  core::ProviderSeen look_at_health();

  const std::string name_;
  const std::shared_ptr<EngineLine> line_;
  const Clock& clock_;
  const OnMaking on_making_;

  std::mutex mutex_;
  std::condition_variable emptied_;  // held_ has nothing left
  bool ending_ = false;              // nothing is made any more
  ProviderPtr provider_;
  absl::Status no_provider_;  // why there is none
  std::string server_address_;
  OpenDoor open_door_;  // empty: there are no doors
  std::map<WorkerId, Held> held_;
  core::ProviderFacts facts_;  // as last seen
  MonoTime health_due_{0}, inventory_due_{0};
  MonoTime checking_since_ = kNever;
  bool hung_told_ = false;
  bool is_unwell_ = false;  // the last check said so, or calls failed since
  bool listing_ = false;

  Crew creators_{kCreators, kMaxWaiting};
  Crew enders_{kEnders, kMaxWaiting};
  Crew lookers_{kLookers, kMaxWaiting};
  Crew checkers_{2, 100};
};

}  // namespace hodei::server
