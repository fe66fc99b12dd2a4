#include "src/server/provisioning/provider_health.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server {

ProviderHealth::ProviderHealth(std::string name, std::shared_ptr<EngineLine> line, const Clock& clock,
                               std::shared_ptr<CurrentProvider> current, std::shared_ptr<CallPool> pool)
    : name_(std::move(name)),
      line_(std::move(line)),
      clock_(clock),
      current_(std::move(current)),
      pool_(std::move(pool)) {}

MonoTime ProviderHealth::tick(MonoTime now) {
  std::optional<core::ProviderSeen> hung;
  MonoTime next = kNever;
  {
    const std::lock_guard lock(mutex_);
    if (due_ <= now) {
      due_ = now + (is_unwell_ ? kEveryWhenUnwell : kEvery);
      if (checking_since_ == kNever && pool_->add([self = shared_from_this()] { self->check_and_tell(); }))
        checking_since_ = now;
    }
    if (hangs_now(now)) {
      hung = core::ProviderSeen{name_, facts_, core::HealthState::Unhealthy,
                                cat("its health check has not answered for ", providers::kCallTimeout / 1s, " s")};
    }
    next = due_;
  }
  if (hung) line_->tell(*hung);
  return next;
}

// A check that hangs is an answer too.
bool ProviderHealth::hangs_now(MonoTime now) {
  if (hung_told_ || checking_since_ == kNever || now - checking_since_ < providers::kCallTimeout) return false;
  hung_told_ = true;
  return true;
}

void ProviderHealth::check_soon() {
  const std::lock_guard lock(mutex_);
  due_ = clock_.now().mono;
}

void ProviderHealth::suspect() {
  const std::lock_guard lock(mutex_);
  is_unwell_ = true;
  due_ = std::min(due_, clock_.now().mono);
}

core::ProviderSeen ProviderHealth::look() {
  const absl::StatusOr<ProviderPtr> asked = current_->get();
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
  if (is_unwell_) due_ = std::min(due_, clock_.now().mono + kEveryWhenUnwell);
  return seen;
}

void ProviderHealth::check_and_tell() {
  const core::ProviderSeen seen = look();
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

void ProviderHealth::check(HealthTo done) {
  const auto ask = [self = shared_from_this(), done] {
    const core::ProviderSeen seen = self->look();
    self->line_->tell(seen);
    done(providers::Health{static_cast<providers::HealthState>(seen.health), seen.reason});
  };
  if (pool_->add(ask)) return;
  done(absl::ResourceExhaustedError("too many health checks of this provider are in progress; try again in a moment"));
}

}  // namespace hodei::server
