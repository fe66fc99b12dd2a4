// Why a job that fits on no worker has, or has not, one being made for it.
#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/core/engine.h"
#include "src/core/provision/prospect.h"

namespace hodei::core {
namespace {

// How much the reason of a provider tells about a job: the one that it names, then one that tried, then one that cannot
// now, then one that never could.
enum class Weight : uint8_t { Nothing, Never, NotNow, Tried, Named };

}  // namespace

void Engine::explain_providers(const Shape& shape, const Namespace& ns, JobId job, Now now, Explanation& out) const {
  const PoolRow* pool = pool_of(shape);
  const bool pool_full = pool != nullptr && pool->max > 0 && pool_workers(pool->name) >= pool->max;
  const LiveProvider* best = nullptr;
  std::string words;  // of the provider that has most to say
  Weight weight = Weight::Nothing;
  for (const auto& [name, provider] : state_.providers()) {
    ProviderCandidate candidate;
    candidate.name = name;
    candidate.startup = provider.expected_startup();
    Weight says = Weight::Nothing;
    const auto refusal = making_.refusals.find({name, shape.encoded});
    if (const std::optional<std::string> never = against(shape, provider, pool)) {
      candidate.reason = *never;
      says = Weight::Never;
    } else if (const std::optional<std::string> foreign = pool_against(pool, ns.str())) {
      candidate.reason = *foreign;
      says = Weight::Never;
    } else if (refusal != making_.refusals.end() && now.mono < refusal->second.until && refusal->second.is_final) {
      candidate.reason = cat("failed for such jobs: ", refusal->second.reason, " (tried again in ",
                             (refusal->second.until - now.mono).count() / 1'000'000 + 1, " s)");
      says = Weight::Tried;
    } else if (pool_full) {
      candidate.reason = cat("pool '", pool->name, "' is at its limit of ", counted(pool->max, "worker"));
      says = Weight::NotNow;
    } else if (const std::optional<std::string> later = not_now(provider, starting(name), now.mono)) {
      candidate.reason = *later;
      const uint32_t stuck = provider.state() == ProviderState::Overloaded ? held_up(name) : 0;
      if (stuck > 0) candidate.reason += cat(", of which ", stuck, stuck == 1 ? " does not start" : " do not start");
      says = Weight::NotNow;
    } else if (too_many_held_up(name, shape)) {
      candidate.reason = cat("has ", kMaxHeldUpWorkers, " workers that do not start");
      says = Weight::NotNow;
    } else {
      candidate.fits = true;
      if (best == nullptr || asked_before(shape, provider, *best)) best = &provider;
    }
    if (says != Weight::Nothing && shape.provider == name) says = Weight::Named;
    if (says > weight) {
      weight = says;
      words = cat("provider ", name, " ", candidate.reason);
    }
    out.providers.push_back(std::move(candidate));
  }
  for (ProviderCandidate& candidate : out.providers)
    candidate.chosen = best != nullptr && candidate.name == best->row.name;
  explain_making(shape, job, out);
  // What a provider says comes first, unless the job waits for a worker that somebody started.
  const LiveJob* live = state_.job(job);
  const bool stands = live != nullptr && live->lane != nullptr && waits_for_standing_worker(*live->lane->shape, now);
  if (stands || out.providers.empty()) return;
  if (!out.provisioning.empty()) {
    out.waiting_for = out.provisioning;
    out.unblock = "the registration of that worker, or another suitable worker";
  } else if (best != nullptr) {
    out.waiting_for = cat("provider ", best->row.name, " is going to create a worker for it");
  } else if (weight >= Weight::NotNow || (weight == Weight::Never && out.candidates.empty())) {
    out.waiting_for = words;
    out.unblock = "a fix of the reason above, or a suitable worker";
  }
}

// The worker that is being made for it, or else for a job like it.
void Engine::explain_making(const Shape& shape, JobId job, Explanation& out) const {
  bool is_own = false;
  for (const auto& [id, attempt] : making_.attempts) {
    const auto worker = state_.workers().find(id);
    if (worker == state_.workers().end() || is_own) continue;
    const Made& made = *worker->second->record->info.made;
    is_own = job != JobId{} && made.for_job == number(job);
    if (!is_own && attempt.shape != shape.encoded) continue;
    out.provisioning =
        cat("worker ", id.str(), " is being created by provider ", made.provider, is_own ? "" : " for a job like it",
            " (", name(worker->second->state), ")", attempt.held_up.empty() ? "" : ": ", attempt.held_up);
    const auto before = making_.refusals.find({made.provider, shape.encoded});
    if (attempt.held_up.empty() && before != making_.refusals.end()) {
      out.provisioning += cat("; the last attempt failed: ", before->second.reason);
    }
  }
}

}  // namespace hodei::core
