// Looking: at workers until they register and beyond, at the provider's health, at all that it has.
#include <algorithm>
#include <optional>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/server/provisioning/provider_desk.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server {

using providers::WorkerPhase;

MonoTime ProviderDesk::tick() {
  const MonoTime now = clock_.now().mono;
  std::vector<WorkerId> to_end;
  MonoTime next = kNever;
  std::optional<core::ProviderSeen> hung;
  {
    const std::lock_guard lock(mutex_);
    start_checks(now);
    if (hangs_now(now)) {
      hung = core::ProviderSeen{name_, facts_, core::HealthState::Unhealthy,
                                cat("its health check has not answered for ", providers::kCallTimeout / 1s, " s")};
    }
    next = std::min(health_due_, inventory_due_);
    for (auto& [id, held] : held_) {
      if (held.due <= now && held.step == Step::There) add_look(id, held);
      if (held.due <= now && held.step == Step::ToDestroy) {
        held.due = kNever;
        to_end.push_back(id);
      }
      next = std::min(next, held.due);
    }
  }
  for (const WorkerId& id : to_end) queue_end(id);
  if (hung) line_->tell(*hung);
  return next;
}

void ProviderDesk::add_look(const WorkerId& worker, Held& held) {
  held.due = clock_.now().mono + (held.registered ? kLookAtRegisteredEvery : kLookEvery);
  if (held.looking) {
    held.look_again = true;
    return;
  }
  held.looking = lookers_.add([self = shared_from_this(), worker] { self->look(worker); });
}

void ProviderDesk::changed(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  const WorkerId id(worker);
  if (const auto it = held_.find(id); it != held_.end() && it->second.step == Step::There) add_look(id, it->second);
}

void ProviderDesk::look(const WorkerId& worker) {
  providers::WorkerHandle handle{worker.str(), ""};
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end()) return;
    it->second.look_again = false;
    handle.id = it->second.handle;
  }
  const absl::StatusOr<ProviderPtr> asked = provider();
  if (!asked.ok()) return take_status(worker, asked.status());
  take_status(worker, (*asked)->worker_status(handle));
}

// Why it is not there yet, for people. One that runs and is not heard of does not find the server.
std::string ProviderDesk::held_up_words(const providers::WorkerStatus& status, const Held& held) const {
  if (status.phase == WorkerPhase::Starting) return status.reason;
  if (status.phase != WorkerPhase::Running || held.runs_since == kNever) return {};
  if (clock_.now().mono - held.runs_since < kQuietBefore) return {};
  const bool loopback = server_address_.starts_with("127.") || server_address_.starts_with("localhost:") ||
                        server_address_.starts_with("[::1]");
  return cat("it is running but has not registered for ", kQuietBefore / 1s, " s; it tries to reach this server at ",
             server_address_,
             loopback ? ", which only this machine can reach: start the server with --listen 0.0.0.0:PORT, or set "
                        "--advertise HOST:PORT to an address that workers can reach"
                      : "; can it be reached from there?");
}

void ProviderDesk::take_status(const WorkerId& worker, const absl::StatusOr<providers::WorkerStatus>& status) {
  bool runs = false, is_over = false, was_registered = false, is_news = false;
  MonoTime asked{0};
  std::string held_up;
  {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(worker);
    if (it == held_.end()) return;
    Held& held = it->second;
    held.looking = false;
    if (held.step != Step::There) return;
    if (held.look_again) add_look(worker, held);
    if (!status.ok()) return;  // the provider cannot tell now
    asked = held.asked;
    was_registered = held.registered;
    is_over = status->phase == WorkerPhase::Ended || status->phase == WorkerPhase::Gone ||
              (status->phase == WorkerPhase::Starting && status->hopeless);
    runs = status->phase == WorkerPhase::Running && !held.runs_told;
    held.runs_told |= runs;
    if (runs) held.runs_since = clock_.now().mono;
    held_up = held_up_words(*status, held);
    is_news = !held.registered && held.held_up != held_up;
    if (is_news) held.held_up = held_up;
    // Found again by the next inventory when something of it is left and the engine does not want it destroyed.
    if (is_over) held_.erase(it);
  }
  if (runs) {
    journal(Level::Info, "providers", "running worker=", worker.str(), " provider=", name_);
    line_->tell(core::WorkerRuns{worker});
  }
  if (is_news && !is_over) {
    if (!held_up.empty())
      journal(Level::Info, "providers", "held up worker=", worker.str(), " provider=", name_, ": ", held_up);
    line_->tell(core::WorkerHeldUp{worker, held_up});
  }
  if (!is_over) return;
  const std::string why = !status->reason.empty()              ? status->reason
                          : status->phase == WorkerPhase::Gone ? "it disappeared unexpectedly"
                                                               : "it ended on its own";
  if (was_registered) {
    journal(Level::Info, "providers", "ended worker=", worker.str(), " provider=", name_, ": ", why);
    return line_->tell(core::WorkerFailed{worker, core::MakingFailure::Trouble, why});
  }
  failed(worker, asked,
         status->phase == WorkerPhase::Starting ? core::MakingFailure::Hopeless : core::MakingFailure::Trouble, why);
}

void ProviderDesk::look_at_everything() {
  const std::lock_guard lock(mutex_);
  health_due_ = inventory_due_ = clock_.now().mono;
}

void ProviderDesk::start_checks(MonoTime now) {
  if (health_due_ <= now) {
    health_due_ = now + (is_unwell_ ? kHealthEveryWhenUnwell : kHealthEvery);
    if (checking_since_ == kNever && checkers_.add([self = shared_from_this()] { self->check_up(); }))
      checking_since_ = now;
  }
  if (inventory_due_ <= now) {
    inventory_due_ = now + kInventoryEvery;
    if (!listing_) listing_ = checkers_.add([self = shared_from_this()] { self->take_inventory(); });
  }
}

// A check that hangs is an answer too.
bool ProviderDesk::hangs_now(MonoTime now) {
  if (hung_told_ || checking_since_ == kNever || now - checking_since_ < providers::kCallTimeout) return false;
  hung_told_ = true;
  return true;
}

core::ProviderSeen ProviderDesk::look_at_health() {
  const absl::StatusOr<ProviderPtr> asked = provider();
  core::ProviderSeen seen{name_, {}, core::HealthState::Unhealthy, std::string(asked.status().message())};
  if (asked.ok()) {
    const providers::Health health = (*asked)->health_check();
    seen.facts = facts_of(**asked);
    seen.health = health_of(health.state);
    seen.reason = health.reason;
  }
  const std::lock_guard lock(mutex_);
  facts_ = seen.facts;
  is_unwell_ = seen.health == core::HealthState::Unhealthy;
  if (is_unwell_) health_due_ = std::min(health_due_, clock_.now().mono + kHealthEveryWhenUnwell);
  return seen;
}

void ProviderDesk::check_up() {
  const core::ProviderSeen seen = look_at_health();
  if (seen.health != core::HealthState::Healthy) {
    journal(Level::Debug, "providers", "provider=", name_, " is not healthy: ", seen.reason);
  }
  {
    const std::lock_guard lock(mutex_);  // before it is told: whoever hears of it may ask for the next one
    checking_since_ = kNever;
    hung_told_ = false;
  }
  line_->tell(seen);
}

void ProviderDesk::check_health(HealthTo done) {
  const auto ask = [self = shared_from_this(), done] {
    const core::ProviderSeen seen = self->look_at_health();
    self->line_->tell(seen);
    done(providers::Health{static_cast<providers::HealthState>(seen.health), seen.reason});
  };
  if (checkers_.add(ask)) return;
  done(absl::ResourceExhaustedError("too many health checks of this provider are in progress; try again in a moment"));
}

void ProviderDesk::take_inventory() {
  const absl::StatusOr<ProviderPtr> asked = provider();
  const auto list = [&]() -> absl::StatusOr<std::vector<providers::OwnedWorker>> {
    RETURN_IF_ERROR(asked.status());
    return (*asked)->list_workers();
  };
  const absl::StatusOr<std::vector<providers::OwnedWorker>> owned = list();
  {
    const std::lock_guard lock(mutex_);  // before it is told, likewise
    listing_ = false;
  }
  if (owned.ok()) {
    adopt(*owned);
    // Those of an earlier life come back through the doors that it had.
    if (const absl::StatusOr<ProviderPtr> now = provider(); !owned->empty() && now.ok()) {
      if (const absl::Status opened = open_doors(**now); !opened.ok()) {
        journal(Level::Warn, "providers", "provider=", name_,
                " has workers that cannot be recovered: ", std::string(opened.message()));
      }
    }
    core::Inventory inventory{name_, {}};
    for (const providers::OwnedWorker& one : *owned)
      inventory.workers.push_back({WorkerId(one.handle.worker_id), one.handle.id});
    line_->tell(inventory);
  } else {
    journal(Level::Debug, "providers", "provider=", name_,
            " cannot list its workers: ", std::string(owned.status().message()));
  }
}

// Workers of an earlier life of this server: looked at like any other.
void ProviderDesk::adopt(const std::vector<providers::OwnedWorker>& owned) {
  const std::lock_guard lock(mutex_);
  if (provider_ == nullptr) return;  // closed meanwhile
  for (const providers::OwnedWorker& one : owned) {
    const auto [it, is_new] = held_.try_emplace(WorkerId(one.handle.worker_id));
    if (!is_new) continue;
    it->second.step = Step::There;
    it->second.handle = one.handle.id;
    it->second.asked = clock_.now().mono;
    it->second.due = clock_.now().mono + kLookEvery;
    it->second.registered = true;  // or the engine's deadline ends it: no need to look every second
  }
}

void ProviderDesk::worker_logs(const WorkerId& worker, const std::string& handle, size_t tail, LogsTo done) {
  const auto read = [self = shared_from_this(), worker, handle, tail, done] {
    const absl::StatusOr<ProviderPtr> asked = self->provider();
    if (!asked.ok()) return done(asked.status());
    absl::StatusOr<std::string> text = (*asked)->worker_logs({worker.str(), handle}, tail);
    if (text.ok() && text->size() > kMaxLogBytes) text->erase(0, text->size() - kMaxLogBytes);
    done(std::move(text));
  };
  if (!lookers_.add(read))
    done(absl::ResourceExhaustedError("too many requests to this provider are in progress; try again in a moment"));
}

}  // namespace hodei::server
