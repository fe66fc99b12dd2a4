// Making and ending. Looking is in desk_looks.cc.
#include "src/server/provisioning/provider_desk.h"

#include <algorithm>
#include <future>

#include "src/base/journal.h"
#include "src/base/pause.h"
#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server {
namespace {

Duration back_off(uint32_t tries) {
  return std::min<Duration>(500ms * (int64_t{1} << std::min(tries, 10u)), ProviderDesk::kLongestBackOff);
}

std::string seconds_text(Duration d) { return fmt::format("{:.3f} s", static_cast<double>(d.count()) / 1e6); }

}  // namespace

ProviderDesk::ProviderDesk(std::string name, std::shared_ptr<EngineLine> line, const Clock& clock, OnMaking on_making)
    : name_(std::move(name)),
      line_(std::move(line)),
      clock_(clock),
      on_making_(std::move(on_making)),
      no_provider_(absl::UnavailableError("not ready yet")) {}

absl::StatusOr<ProviderDesk::ProviderPtr> ProviderDesk::provider() {
  const std::lock_guard lock(mutex_);
  if (provider_ == nullptr) return no_provider_;
  return provider_;
}

void ProviderDesk::set_server_address(const std::string& address, OpenDoor open_door) {
  const std::lock_guard lock(mutex_);
  server_address_ = address;
  open_door_ = std::move(open_door);
}

absl::Status ProviderDesk::open_doors(providers::Provider& provider) {
  OpenDoor open;
  {
    const std::lock_guard lock(mutex_);
    open = open_door_;
  }
  if (!open) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> hosts, provider.door_addresses());
  for (const std::string& host : hosts) RETURN_IF_ERROR(open(host));
  return absl::OkStatus();
}

void ProviderDesk::use(absl::StatusOr<ProviderPtr> provider) {
  if (provider.ok()) {
    (*provider)->watch([weak = weak_from_this()](const std::string& worker) {
      if (const auto self = weak.lock()) self->changed(worker);
    });
  }
  ProviderPtr old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(provider_, provider.ok() ? *provider : nullptr);
    no_provider_ = provider.status();
  }
  // It may wait for a call of its own that is under way.
  if (old != nullptr) checkers_.add([old = std::move(old)] { old->unwatch(); });
  look_at_everything();
}

void ProviderDesk::close(Duration patience) {
  ProviderPtr old;
  {
    const std::lock_guard lock(mutex_);
    old = std::move(provider_);
    no_provider_ = absl::UnavailableError("the provider was removed, or the server is stopping");
    held_.clear();
    ending_ = true;
    open_door_ = nullptr;  // whoever still hangs in a call must not come back to a server that is gone
  }
  // Real time, whatever the clock says: this waits for threads.
  const auto give_up = deadline_in(patience);
  const auto left = [&] {
    return std::max(Duration(0), std::chrono::duration_cast<Duration>(give_up - deadline_in(Duration(0))));
  };
  if (old != nullptr) {
    auto unwatched = std::make_shared<std::promise<void>>();
    std::future<void> done = unwatched->get_future();
    if (checkers_.add([old = std::move(old), unwatched] { old->unwatch(), unwatched->set_value(); }))
      done.wait_for(left());
  }
  for (Crew* crew : {&creators_, &enders_, &lookers_, &checkers_}) crew->stop(left());
}

void ProviderDesk::make_no_more() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
}

void ProviderDesk::end_all() {
  std::vector<WorkerId> all;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& [id, held] : held_) all.push_back(id);
  }
  for (const WorkerId& id : all) destroy(id, "");
}

bool ProviderDesk::wait_until_empty(std::chrono::system_clock::time_point give_up) {
  std::unique_lock lock(mutex_);
  return emptied_.wait_until(lock, give_up, [this] { return held_.empty(); });
}

void ProviderDesk::create(const core::WorkerRecordPtr& record) {
  const WorkerId& id = record->info.id;
  std::string made_already;
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;  // the next server finds it recorded, and not made
    const auto [it, is_new] = held_.try_emplace(id);
    Held& held = it->second;
    if (!is_new) {
      // Asked again, as by an engine that was loaded anew.
      if (held.step != Step::There) return;
      made_already = held.handle;
      held.record = record;
    } else {
      held.record = record;
      held.asked = clock_.now().mono;
      full = !creators_.add([self = shared_from_this(), id] { self->make(id); });
      if (full) held_.erase(it);
    }
  }
  if (!made_already.empty()) line_->tell(core::WorkerMade{id, made_already});
  if (full) {
    failed(id, clock_.now().mono, core::MakingFailure::Room,
           cat(kMaxWaiting, " workers are already waiting to be created by this provider"));
  }
}

void ProviderDesk::make(const WorkerId& worker) {
  core::WorkerRecordPtr record;
  std::string address;
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end() || it->second.step != Step::Queued) return;
    it->second.step = Step::Creating;
    record = it->second.record;
    address = server_address_;
  }
  const auto attempt = [&]() -> absl::StatusOr<providers::WorkerHandle> {
    ASSIGN_OR_RETURN(const ProviderPtr maker, provider());
    RETURN_IF_ERROR(open_doors(*maker));
    providers::WorkerSpec spec = spec_of(*record, address);
    spec.token = random_uuid();
    const absl::Status known = line_
                                   ->ask_and_wait(core::MakeOtp{secret_hash(spec.token), worker}, kTokenPatience,
                                                  core::from_server(cat("provider ", name_)))
                                   .status();
    if (!known.ok()) return absl::UnavailableError(cat("cannot create a token for it: ", std::string(known.message())));
    return maker->create_worker(spec);
  };
  made(worker, attempt());
}

void ProviderDesk::made(const WorkerId& worker, const absl::StatusOr<providers::WorkerHandle>& handle) {
  bool is_unwanted = false;
  MonoTime asked{0};
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end()) return;  // closed
    Held& held = it->second;
    asked = held.asked;
    if (handle.ok()) held.handle = handle->id;
    is_unwanted = held.destroy_wanted;
    if (is_unwanted) {
      held.step = Step::ToDestroy;
    } else if (handle.ok()) {
      held.step = Step::There;
      add_look(worker, held);
    } else {
      held_.erase(it);
    }
  }
  // Whether it came to be or not: something may have stayed behind.
  if (is_unwanted) return queue_end(worker);
  if (!handle.ok()) return failed(worker, asked, failure_of(handle.status()), std::string(handle.status().message()));
  const Duration took = clock_.now().mono - asked;
  journal(Level::Info, "providers", "made worker=", worker.str(), " provider=", name_, " ref=", handle->id, " in ",
          seconds_text(took));
  line_->tell(core::WorkerMade{worker, handle->id});
  if (on_making_) on_making_({MakingEvent::What::Made, name_, took});
}

void ProviderDesk::failed(const WorkerId& worker, MonoTime asked, core::MakingFailure kind, const std::string& why) {
  const Duration took = asked.is_set() ? clock_.now().mono - asked : Duration(0);
  journal(Level::Warn, "providers", "failed worker=", worker.str(), " provider=", name_, " after ", seconds_text(took),
          ": ", why);
  if (kind == core::MakingFailure::Trouble) {
    // Is it away? When it is back, nobody waits for the end of a back-off.
    const std::lock_guard lock(mutex_);
    is_unwell_ = true;
    health_due_ = std::min(health_due_, clock_.now().mono);
  }
  line_->tell(core::WorkerFailed{worker, kind, why});
  if (on_making_) on_making_({MakingEvent::What::Failed, name_, took});
}

void ProviderDesk::registered(const WorkerId& worker) {
  Duration took{0};
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end() || it->second.registered) return;
    Held& held = it->second;
    held.registered = true;
    if (held.step == Step::There) held.due = clock_.now().mono + kLookAtRegisteredEvery;
    if (held.record == nullptr) return;
    took = clock_.now().mono - held.asked;
  }
  journal(Level::Info, "providers", "registered worker=", worker.str(), " provider=", name_, " in ",
          seconds_text(took));
  if (on_making_) on_making_({MakingEvent::What::Registered, name_, took});
}

void ProviderDesk::destroy(const WorkerId& worker, const std::string& handle) {
  {
    const std::lock_guard lock(mutex_);
    Held& held = held_[worker];
    if (held.handle.empty()) held.handle = handle;
    if (!held.asked.is_set()) held.asked = clock_.now().mono;
    if (held.step == Step::ToDestroy || held.step == Step::Destroying) return;
    if (held.step == Step::Creating) {
      held.destroy_wanted = true;
      return;
    }
    held.step = Step::ToDestroy;  // one that was only queued is never made
    held.due = kNever;
  }
  queue_end(worker);
}

void ProviderDesk::queue_end(const WorkerId& worker) {
  if (enders_.add([self = shared_from_this(), worker] { self->end(worker); })) return;
  const std::lock_guard lock(mutex_);
  if (const auto it = held_.find(worker); it != held_.end()) it->second.due = clock_.now().mono + 1s;
}

void ProviderDesk::end(const WorkerId& worker) {
  providers::WorkerHandle handle{worker.str(), ""};
  MonoTime asked{0};
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end() || it->second.step != Step::ToDestroy) return;
    it->second.step = Step::Destroying;
    it->second.due = kNever;
    handle.id = it->second.handle;
    asked = it->second.asked;
  }
  const absl::StatusOr<ProviderPtr> ender = provider();
  const absl::Status done = ender.ok() ? (*ender)->destroy_worker(handle) : ender.status();
  uint32_t tries = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end()) return;
    if (done.ok()) {
      held_.erase(it);
      if (held_.empty()) emptied_.notify_all();
    } else {
      it->second.step = Step::ToDestroy;
      it->second.due = clock_.now().mono + back_off(it->second.tries);
      tries = ++it->second.tries;
    }
  }
  if (!done.ok()) {
    // A provider that is away for an hour is not worth a line every half minute.
    if (tries == 1 || tries % 10 == 0) {
      journal(Level::Warn, "providers", "cannot destroy worker=", worker.str(), " provider=", name_, " attempt=", tries,
              ": ", std::string(done.message()));
    }
    return;
  }
  journal(Level::Info, "providers", "destroyed worker=", worker.str(), " provider=", name_, " after ",
          seconds_text(clock_.now().mono - asked));
  line_->tell(core::WorkerDestroyed{worker});
  if (on_making_) on_making_({MakingEvent::What::Destroyed, name_, clock_.now().mono - asked});
}

}  // namespace hodei::server
