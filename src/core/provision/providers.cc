#include "src/core/provision/providers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/counted.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/core/provision/creation.h"
#include "src/core/provision/pools.h"

namespace hodei::core {
namespace {

absl::Status no_provider(const std::string& name) {
  return absl::NotFoundError(cat("provider '", name, "' does not exist; see `hodei provider list`"));
}

}  // namespace

Answer Providers::decide(const PutProvider& c, Turn& turn) {
  RETURN_IF_ERROR(validate(c.row));
  const auto known = all_.find(c.row.name);
  if (c.is_new && known != all_.end()) {
    return absl::AlreadyExistsError(cat("name: provider '", c.row.name,
                                        "' already exists; change it with `hodei provider "
                                        "set`, or choose another name"));
  }
  if (!c.is_new && known == all_.end()) return no_provider(c.row.name);
  if (known == all_.end() && all_.size() >= kMaxProviders) {
    return absl::ResourceExhaustedError(cat("there are already ", kMaxProviders, " providers, which is the limit"));
  }
  if (known != all_.end() && known->second.row.type != c.row.type) {
    return bad_field("type", "of provider '", c.row.name, "' is ", known->second.row.type, " and cannot be changed");
  }
  if (known == all_.end() || known->second.row != c.row) {
    const bool is_first = all_.empty();
    turn.write(Put<ProviderRow>{c.row});
    turn.tell(ProvidersChanged{});
    // Nothing is remembered as wanted while there is nobody to make it.
    if (is_first) context_.creation.want_all();
    // What it failed at may work now.
    std::erase_if(context_.making.refusals, [&c](const auto& entry) { return entry.first.first == c.row.name; });
    context_.making.look_again();
    context_.audit.record_act({c.is_new ? "provider.added" : "provider.changed", c.row.name,
                               cat("type ", c.row.type, ", ", name(c.row.mode))},
                              turn);
  }
  return decide(DescribeProviders{c.row.name}, turn);
}

Answer Providers::decide(const DropProvider& c, Turn& turn) {
  const auto known = all_.find(c.name);
  if (known == all_.end()) return no_provider(c.name);
  if (known->second.workers > 0) {
    return absl::FailedPreconditionError(
        cat("provider '", c.name, "' still has ", counted(known->second.workers, "worker"),
            "; disable it with `hodei provider disable ", c.name, "` and remove it once they are gone"));
  }
  for (const auto& [name, pool] : context_.pools.all()) {
    if (pool.provider != c.name) continue;
    return absl::FailedPreconditionError(
        cat("pool '", name, "' uses provider '", c.name, "'; remove or change the pool first"));
  }
  turn.write(Erase<ProviderRow>{c.name});
  context_.audit.record_act({"provider.removed", c.name}, turn);
  turn.tell(ProvidersChanged{});
  return Done{};
}

Answer Providers::decide(const ProviderSeen& c, Turn& turn) {
  const auto known = all_.find(c.name);
  if (known == all_.end()) return no_provider(c.name);
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
  provider.checked = turn.wall();
  context_.making.look_again();
  return Done{};
}

Answer Providers::decide(const DescribeProviders& q, Turn&) const {
  if (!q.name.empty() && !all_.contains(q.name)) return no_provider(q.name);
  ProviderViews out;
  for (const auto& [name, provider] : all_) {
    if (!q.name.empty() && q.name != name) continue;
    ProviderView view{provider, provider.state(), {}};
    for (const auto& [id, worker] : context_.fleet.workers.all()) {
      const std::optional<Made>& made = worker->record->info.made;
      const bool is_its = made ? made->provider == name : worker->record->info.provider == name;
      if (is_its && worker->state != WorkerState::Terminated) view.workers.push_back(id);
    }
    out.providers.push_back(std::move(view));
  }
  return out;
}

LiveProvider* Providers::find(const std::string& name) {
  const auto it = all_.find(name);
  return it == all_.end() ? nullptr : &it->second;
}

void Providers::count(const WorkerRecord* before, const WorkerRecord* after, size_t executions) {
  if (before != nullptr) count_one(*before, executions, -1);
  if (after != nullptr) count_one(*after, executions, +1);
}

void Providers::count_one(const WorkerRecord& record, size_t executions, int sign) {
  if (executions > 0) count_executions(record.info.provider, sign * static_cast<int>(executions));
  if (!record.info.made || record.state == WorkerState::Terminated) return;
  if (LiveProvider* provider = find(record.info.made->provider)) provider->workers += static_cast<uint32_t>(sign);
}

void Providers::count_executions(const std::string& name, int change) {
  if (all_.empty()) return;
  if (LiveProvider* provider = find(name)) provider->jobs += static_cast<uint32_t>(change);
}

// Workers that say they are of it may be there before it is.
void Providers::fold(const Put<ProviderRow>& write) {
  const auto [it, is_new] = all_.try_emplace(write.row->name);
  LiveProvider& provider = it->second;
  provider.row = decode_provider(encode(*write.row));
  if (!is_new) return;
  for (const auto& [id, worker] : context_.fleet.workers.all()) {
    if (worker->record->info.provider != provider.row.name) continue;
    provider.jobs += static_cast<uint32_t>(worker->executions.size());
  }
}

uint64_t Providers::digest() const {
  uint64_t sum = 0;
  for (const auto& [name, provider] : all_) sum += hash64(encode(provider.row));
  return sum;
}

}  // namespace hodei::core
