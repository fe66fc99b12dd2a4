#include "src/core/provision/pools.h"

#include <optional>
#include <utility>

#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/core/provision/providers.h"

namespace hodei::core {

Answer Pools::decide(const PutPool& c, Turn& turn) {
  RETURN_IF_ERROR(validate(c.row));
  if (!c.row.provider.empty() && !context_.providers.all().contains(c.row.provider)) {
    return bad_field("provider", "provider '", c.row.provider, "' does not exist; see `hodei provider list`");
  }
  const auto known = all_.find(c.row.name);
  if (known == all_.end() && all_.size() >= kMaxPools) {
    return absl::ResourceExhaustedError(cat("there are already ", kMaxPools, " pools, which is the limit"));
  }
  if (known == all_.end() || known->second != c.row) {
    turn.write(Put<PoolRow>{c.row});
    context_.audit.record_act(
        {"pool.set", c.row.name, cat("min ", c.row.min, ", max ", c.row.max, ", spare ", c.row.spare)}, turn);
    context_.making.look_again();
  }
  return Done{};
}

Answer Pools::decide(const DropPool& c, Turn& turn) {
  if (!all_.contains(c.name)) {
    return absl::NotFoundError(cat("pool '", c.name, "' does not exist; see `hodei pool list`"));
  }
  turn.write(Erase<PoolRow>{c.name});
  context_.audit.record_act({"pool.removed", c.name}, turn);
  return Done{};
}

Answer Pools::decide(const DescribePools&, Turn&) const {
  PoolViews out;
  for (const auto& [name, row] : all_) {
    PoolView view{row};
    for (const auto& [id, worker] : context_.fleet.workers.all()) {
      const std::optional<Made>& made = worker->record->info.made;
      if (!made || made->pool != name || worker->state == WorkerState::Terminated) continue;
      ++view.workers;
      view.starting += worker->state == WorkerState::Creating || worker->state == WorkerState::Connecting;
      view.busy += !worker->executions.empty();
    }
    out.pools.push_back(std::move(view));
  }
  for (const auto& [id, live] : context_.jobs.table.all()) {
    if (live.head->state != JobState::Pending || live.head->shape->pool.empty()) continue;
    for (PoolView& view : out.pools) view.waiting += view.row.name == live.head->shape->pool;
  }
  return out;
}

const PoolRow* Pools::of(const Shape& shape) const {
  const auto it = all_.find(shape.pool);
  return it == all_.end() ? nullptr : &it->second;
}

uint32_t Pools::workers(const std::string& pool) const {
  uint32_t count = 0;
  for (const auto& [id, worker] : context_.fleet.workers.all()) {
    const std::optional<Made>& made = worker->record->info.made;
    count += made && made->pool == pool && worker->state != WorkerState::Terminated;
  }
  return count;
}

bool Pools::can_spare(const LiveWorker& worker) const {
  const Made& made = *worker.record->info.made;
  const auto pool = all_.find(made.pool);
  if (pool == all_.end()) return true;
  uint32_t kept = 0, idle = 0;
  for (const auto& [id, other] : context_.fleet.workers.all()) {
    const std::optional<Made>& of = other->record->info.made;
    if (!of || of->pool != made.pool || !other->in_service()) continue;
    ++kept;
    idle += other->executions.empty();
  }
  return kept > pool->second.min && idle > pool->second.spare;
}

bool Pools::needs(const Made& made) const {
  const auto pool = all_.find(made.pool);
  if (pool == all_.end()) return false;
  return pool->second.spare > 0 || workers(made.pool) <= pool->second.min;
}

bool Pools::is_full(const PoolRow* pool) const {
  return pool != nullptr && pool->max > 0 && workers(pool->name) >= pool->max;
}

uint64_t Pools::digest() const {
  uint64_t sum = 0;
  for (const auto& [name, row] : all_) sum += hash64(encode(row));
  return sum;
}

}  // namespace hodei::core
