#include "src/core/provision/prospect.h"

#include <algorithm>
#include <tuple>

#include "src/base/counted.h"
#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {
namespace {

// What a worker has when nobody says: as much as any job may ask for. The real figures come when it registers.
constexpr Amounts kPlenty{kMaxWorkerMilli, kMaxAmountMb, kMaxAmountMb, 0};

Amounts size_of(const Shape& shape, const LiveProvider& provider, const PoolRow* pool) {
  const Amounts from_pool = pool != nullptr ? pool->size : Amounts();
  const Amounts& largest = provider.facts.largest;
  const Amounts& usual = provider.facts.usual;
  const auto pick = [](int64_t in_pool, int64_t needed, int64_t usually, int64_t most, int64_t plenty) {
    if (in_pool > 0) return in_pool;
    if (needed > 0) return needed;
    if (usually > 0) return usually;
    return most > 0 ? most : plenty;
  };
  return {pick(from_pool.cpu_milli, shape.needs.cpu_milli, usual.cpu_milli, largest.cpu_milli, kPlenty.cpu_milli),
          pick(from_pool.memory_mb, shape.needs.memory_mb, usual.memory_mb, largest.memory_mb, kPlenty.memory_mb),
          pick(from_pool.storage_mb, shape.needs.storage_mb, usual.storage_mb, largest.storage_mb, kPlenty.storage_mb),
          std::max(from_pool.gpus, shape.needs.gpus)};
}

std::string architecture_of(const Shape& shape, const ProviderFacts& facts) {
  if (!shape.architecture.empty() || facts.architectures.empty()) return shape.architecture;
  return facts.architectures.front();
}

std::optional<std::string> too_large(const Amounts& size, const ProviderFacts& facts) {
  const Amounts& most = facts.largest;
  if (most.cpu_milli > 0 && size.cpu_milli > most.cpu_milli) {
    return cat("creates workers with at most ", most.cpu_milli / 1000.0, " cores, but ", size.cpu_milli / 1000.0,
               " are needed");
  }
  if (most.memory_mb > 0 && size.memory_mb > most.memory_mb) {
    const auto [largest, needed] = megabytes_apart(most.memory_mb, size.memory_mb);
    return cat("creates workers with at most ", largest, " of memory, but ", needed, " are needed");
  }
  if (size.gpus > 0 && !facts.gpu) return std::string("has no GPUs");
  return std::nullopt;
}

// How much more it isolates than is asked for: an image asks for a container.
int excess(const Shape& shape, const LiveProvider& provider) {
  const Isolation least = shape.image.empty() ? Isolation::Process : Isolation::Container;
  return static_cast<int>(provider.facts.isolation) - static_cast<int>(std::max(least, shape.isolation));
}

}  // namespace

WorkerInfo prospect(const Shape& shape, const LiveProvider& provider, const PoolRow* pool) {
  WorkerInfo info;
  info.provider = provider.row.name;
  info.isolation = provider.facts.isolation;
  info.image = !shape.image.empty() || pool == nullptr ? shape.image : pool->image;
  info.architecture = architecture_of(shape, provider.facts);
  info.capacity = size_of(shape, provider, pool);
  info.slots = pool != nullptr && !is_for_one_job(provider, pool) ? pool->slots : 1;
  info.capabilities = {"script", "shell", "stdin"};
  info.labels = provider.row.labels;
  info.lacks = provider.facts.lacks;
  if (pool != nullptr) {
    for (const auto& [key, value] : pool->labels) info.labels[key] = value;
    info.labels["pool"] = pool->name;
  }
  return info;
}

bool is_for_one_job(const LiveProvider& provider, const PoolRow* pool) {
  if (pool != nullptr && pool->one_job) return true;
  const bool may_reuse = pool != nullptr && pool->reuse;
  return provider.facts.isolation == Isolation::Hardware && !may_reuse;
}

std::optional<std::string> pool_against(const PoolRow* pool, std::string_view ns) {
  if (pool == nullptr || pool->ns.empty() || pool->ns == ns) return std::nullopt;
  return cat("pool '", pool->name, "' creates workers for namespace '", pool->ns, "' only");
}

std::optional<std::string> against(const Shape& shape, const LiveProvider& provider, const PoolRow* pool) {
  if (!provider.seen) return std::string("has not been checked since the server started");
  if (!provider.facts.makes_workers) {
    return cat("creates no workers: start them yourself, with HODEI_WORKER_PROVIDER=", provider.row.name,
               " hodei agent");
  }
  if (pool == nullptr && !shape.pool.empty()) {
    return cat("pool '", shape.pool, "' does not exist; create it with `hodei pool set ", shape.pool, "`");
  }
  if (pool != nullptr && !pool->provider.empty() && pool->provider != provider.row.name) {
    return cat("pool '", pool->name, "' gets its workers from provider '", pool->provider, "'");
  }
  if (pool != nullptr && !pool->image.empty() && !shape.image.empty() && pool->image != shape.image) {
    return cat("pool '", pool->name, "' uses image ", pool->image, ", but the job needs ", shape.image);
  }
  const WorkerInfo would = prospect(shape, provider, pool);
  if (!would.image.empty() && !provider.facts.images) return std::string("cannot create workers from images");
  const std::vector<std::string>& known = provider.facts.architectures;
  if (!shape.architecture.empty() && !known.empty() &&
      std::find(known.begin(), known.end(), shape.architecture) == known.end()) {
    return cat("cannot create workers with architecture ", shape.architecture);
  }
  if (std::optional<std::string> large = too_large(would.capacity, provider.facts)) return large;
  const bool joins = std::any_of(shape.affinity.begin(), shape.affinity.end(),
                                 [](const AffinityRule& c) { return c.required && !c.anti; });
  if (joins) return std::string("its worker would be new, but the job must run next to a running job");
  if (const std::optional<Rejection> no = first_rejection(shape, would)) return cat("its worker ", no->reason);
  return std::nullopt;
}

std::optional<std::string> not_now(const LiveProvider& provider, uint32_t starting, MonoTime now) {
  switch (provider.state()) {
    case ProviderState::Active: break;
    case ProviderState::Unhealthy: return cat("is unhealthy: ", provider.health_reason);
    case ProviderState::Overloaded:
      if (provider.has_enough_jobs()) return cat("is at its limit of running jobs, ", provider.jobs);
      return cat("is at its limit of ", counted(provider.workers, "worker"));
    default: return cat("is ", name(provider.state()));
  }
  if (now < provider.not_before) {
    return cat("is backing off for ", (provider.not_before - now).count() / 1'000'000 + 1,
               " s after a failure: ", provider.last_failure);
  }
  if (provider.row.max_jobs > 0 && provider.jobs + starting >= provider.row.max_jobs) {
    return cat("may run ", counted(provider.row.max_jobs, "job"),
               " at a time, and is already creating workers for the rest");
  }
  if (starting >= kMaxStartingWorkers) return cat("is already creating ", counted(starting, "worker"));
  return std::nullopt;
}

bool asked_before(const Shape& shape, const LiveProvider& a, const LiveProvider& b) {
  const auto order = [&shape](const LiveProvider& p) {
    const bool preferred = !shape.preferred_provider.empty() && shape.preferred_provider == p.row.name;
    return std::tuple(!preferred, -p.row.preference, excess(shape, p), p.row.cost, p.expected_startup(), p.row.name);
  };
  return order(a) < order(b);
}

std::string being_made(const std::string& provider, const WorkerId& worker, const std::string& held_up) {
  return cat("provisioning: provider ", provider, " makes worker ", worker.str(), held_up.empty() ? "" : ": ", held_up);
}

Shape shape_of(const PoolRow& pool) {
  Shape shape;
  shape.pool = pool.name;
  shape.image = pool.image;
  shape.provider = pool.provider;
  shape.needs = pool.size;
  shape.encoded = encode(shape);
  return shape;
}

}  // namespace hodei::core
