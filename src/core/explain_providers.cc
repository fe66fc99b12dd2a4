// Why a job that fits on no worker has, or has not, one being made for it.
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/provision/prospect.h"

namespace hodei::core {

void Engine::explain_providers(const Shape& shape, const Namespace& ns, JobId job, Now now, Explanation& out) const {
  const PoolRow* pool = pool_of(shape);
  const bool pool_full = pool != nullptr && pool->max > 0 && pool_workers(pool->name) >= pool->max;
  const LiveProvider* best = nullptr;
  for (const auto& [name, provider] : state_.providers()) {
    ProviderCandidate candidate;
    candidate.name = name;
    candidate.startup = provider.expected_startup();
    const auto refusal = making_.refusals.find({name, shape.encoded});
    if (const std::optional<std::string> never = against(shape, provider, pool)) {
      candidate.reason = *never;
    } else if (const std::optional<std::string> foreign = pool_against(pool, ns.str())) {
      candidate.reason = *foreign;
    } else if (refusal != making_.refusals.end() && now.mono < refusal->second.until && refusal->second.is_final) {
      candidate.reason = cat("failed for such a job: ", refusal->second.reason);
    } else if (pool_full) {
      candidate.reason = cat("pool '", pool->name, "' has its ", pool->max, " workers");
    } else if (const std::optional<std::string> later = not_now(provider, starting(name), now.mono)) {
      candidate.reason = *later;
    } else {
      candidate.fits = true;
      if (best == nullptr || asked_before(shape, provider, *best)) best = &provider;
    }
    out.providers.push_back(std::move(candidate));
  }
  for (ProviderCandidate& candidate : out.providers)
    candidate.chosen = best != nullptr && candidate.name == best->row.name;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    if (worker == state_.workers().end() || worker->second->record->info.made->for_job != number(job)) continue;
    out.provisioning = cat("worker ", id.str(), " is being made by provider ",
                           worker->second->record->info.made->provider, " (", name(worker->second->state), ")");
  }
}

}  // namespace hodei::core
