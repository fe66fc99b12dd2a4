// Providers and pools: added, changed, removed, seen.
#include <algorithm>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/core/engine.h"

namespace hodei::core {
namespace {

absl::Status no_provider(const std::string& name) {
  return absl::NotFoundError(cat("provider '", name, "' does not exist; see `hodei provider list`"));
}

}  // namespace

Engine::Answer Engine::on(const PutProvider& c, Now now, Turn& turn) {
  RETURN_IF_ERROR(validate(c.row));
  const auto known = state_.providers().find(c.row.name);
  if (c.is_new && known != state_.providers().end()) {
    return absl::AlreadyExistsError(cat("name: provider '", c.row.name,
                                        "' already exists; change it with `hodei provider "
                                        "set`, or choose another name"));
  }
  if (!c.is_new && known == state_.providers().end()) return no_provider(c.row.name);
  if (known == state_.providers().end() && state_.providers().size() >= kMaxProviders) {
    return absl::ResourceExhaustedError(cat("there are already ", kMaxProviders, " providers, which is the limit"));
  }
  if (known != state_.providers().end() && known->second.row.type != c.row.type) {
    return bad_field("type", "of provider '", c.row.name, "' is ", known->second.row.type, " and cannot be changed");
  }
  if (known == state_.providers().end() || known->second.row != c.row) {
    const bool is_first = state_.providers().empty();
    write(PutSetting{{SettingKind::Provider, c.row.name, encode(c.row)}}, turn);
    turn.effects.push_back(ProvidersChanged{});
    // Nothing is remembered as wanted while there is nobody to make it.
    if (is_first) state_.roster().each_lane([this](const Lane& lane) { want(lane); });
    // What it failed at may work now.
    std::erase_if(making_.refusals, [&c](const auto& entry) { return entry.first.first == c.row.name; });
    making_.look_again();
    record_act(c.principal,
               {c.is_new ? "provider.added" : "provider.changed", c.row.name,
                cat("type ", c.row.type, ", ", name(c.row.mode))},
               now, turn);
  }
  return answer(DescribeProviders{c.row.name}, Now{});
}

Engine::Answer Engine::on(const DropProvider& c, Now now, Turn& turn) {
  const auto known = state_.providers().find(c.name);
  if (known == state_.providers().end()) return no_provider(c.name);
  if (known->second.workers > 0) {
    return absl::FailedPreconditionError(
        cat("provider '", c.name, "' still has ", counted(known->second.workers, "worker"),
            "; disable it with `hodei provider disable ", c.name, "` and remove it once they are gone"));
  }
  for (const auto& [name, pool] : state_.pools()) {
    if (pool.provider != c.name) continue;
    return absl::FailedPreconditionError(
        cat("pool '", name, "' uses provider '", c.name, "'; remove or change the pool first"));
  }
  write(DeleteSetting{SettingKind::Provider, c.name}, turn);
  record_act(c.principal, {"provider.removed", c.name}, now, turn);
  turn.effects.push_back(ProvidersChanged{});
  return Done{};
}

Engine::Answer Engine::on(const PutPool& c, Now now, Turn& turn) {
  RETURN_IF_ERROR(validate(c.row));
  if (!c.row.provider.empty() && !state_.providers().contains(c.row.provider)) {
    return bad_field("provider", "provider '", c.row.provider, "' does not exist; see `hodei provider list`");
  }
  const auto known = state_.pools().find(c.row.name);
  if (known == state_.pools().end() && state_.pools().size() >= kMaxPools) {
    return absl::ResourceExhaustedError(cat("there are already ", kMaxPools, " pools, which is the limit"));
  }
  if (known == state_.pools().end() || known->second != c.row) {
    write(PutSetting{{SettingKind::Pool, c.row.name, encode(c.row)}}, turn);
    record_act(c.principal,
               {"pool.set", c.row.name, cat("min ", c.row.min, ", max ", c.row.max, ", spare ", c.row.spare)}, now,
               turn);
    making_.look_again();
  }
  return Done{};
}

Engine::Answer Engine::on(const DropPool& c, Now now, Turn& turn) {
  if (!state_.pools().contains(c.name)) {
    return absl::NotFoundError(cat("pool '", c.name, "' does not exist; see `hodei pool list`"));
  }
  write(DeleteSetting{SettingKind::Pool, c.name}, turn);
  record_act(c.principal, {"pool.removed", c.name}, now, turn);
  return Done{};
}

Engine::Answer Engine::on(const ProviderSeen& c, Now now, Turn&) {
  const auto known = state_.providers().find(c.name);
  if (known == state_.providers().end()) return no_provider(c.name);
  LiveProvider& provider = known->second;
  if (provider.health == HealthState::Unhealthy && c.health == HealthState::Healthy) {
    // It was away and is back: what failed meanwhile says nothing about now.
    provider.failures_in_a_row = 0;
    provider.not_before = MonoTime{0};
  }
  provider.facts = c.facts;
  provider.seen = true;
  provider.health = c.health;
  provider.health_reason = c.reason;
  provider.unhealthy_in_a_row = c.health == HealthState::Unhealthy ? provider.unhealthy_in_a_row + 1 : 0;
  provider.checked = now.wall;
  making_.look_again();
  return Done{};
}

Engine::Answer Engine::answer(const DescribeProviders& q, Now) {
  if (!q.name.empty() && !state_.providers().contains(q.name)) return no_provider(q.name);
  ProviderViews out;
  for (const auto& [name, provider] : state_.providers()) {
    if (!q.name.empty() && q.name != name) continue;
    ProviderView view{provider, provider.state(), {}};
    for (const auto& [id, worker] : state_.workers()) {
      const std::optional<Made>& made = worker->record->info.made;
      const bool is_its = made ? made->provider == name : worker->record->info.provider == name;
      if (is_its && worker->state != WorkerState::Terminated) view.workers.push_back(id);
    }
    out.providers.push_back(std::move(view));
  }
  return out;
}

Engine::Answer Engine::answer(const DescribePools&, Now) {
  PoolViews out;
  for (const auto& [name, row] : state_.pools()) {
    PoolView view{row};
    for (const auto& [id, worker] : state_.workers()) {
      const std::optional<Made>& made = worker->record->info.made;
      if (!made || made->pool != name || worker->state == WorkerState::Terminated) continue;
      ++view.workers;
      view.starting += worker->state == WorkerState::Creating || worker->state == WorkerState::Connecting;
      view.busy += !worker->executions.empty();
    }
    out.pools.push_back(std::move(view));
  }
  for (const auto& [id, live] : state_.jobs()) {
    if (live.head->state != JobState::Pending || live.head->shape->pool.empty()) continue;
    for (PoolView& view : out.pools) view.waiting += view.row.name == live.head->shape->pool;
  }
  return out;
}

}  // namespace hodei::core
