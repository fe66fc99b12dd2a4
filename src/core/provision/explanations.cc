#include "src/core/provision/explanations.h"

#include <optional>
#include <utility>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/core/provision/coming.h"
#include "src/core/provision/creation.h"
#include "src/core/provision/pools.h"
#include "src/core/provision/prospect.h"
#include "src/core/provision/providers.h"

namespace hodei::core {
namespace {

// How much the reason of a provider tells about a job: the one that it names, then one that tried, then one that cannot
// now, then one that never could.
enum class Weight : uint8_t { Nothing, Never, NotNow, Tried, Named };

}  // namespace

void Explanations::explain(const Shape& shape, const Namespace& ns, JobId job, const Turn& turn,
                           Explanation& out) const {
  const PoolRow* pool = context_.pools.of(shape);
  const bool pool_full = context_.pools.is_full(pool);
  const LiveProvider* best = nullptr;
  std::string reason;  // of the provider that has most to say
  Weight weight = Weight::Nothing;
  for (const auto& [name, provider] : context_.providers.all()) {
    ProviderCandidate candidate;
    candidate.name = name;
    candidate.startup = provider.expected_startup();
    Weight says = Weight::Nothing;
    const auto refusal = context_.making.refusals.find({name, shape.encoded});
    if (const std::optional<std::string> never = against(shape, provider, pool)) {
      candidate.reason = *never;
      says = Weight::Never;
    } else if (const std::optional<std::string> foreign = pool_against(pool, ns.str())) {
      candidate.reason = *foreign;
      says = Weight::Never;
    } else if (refusal != context_.making.refusals.end() && turn.mono() < refusal->second.until &&
               refusal->second.is_final) {
      candidate.reason = cat("failed for such jobs: ", refusal->second.reason, " (tried again in ",
                             (refusal->second.until - turn.mono()).count() / 1'000'000 + 1, " s)");
      says = Weight::Tried;
    } else if (pool_full) {
      candidate.reason = cat("pool '", pool->name, "' is at its limit of ", counted(pool->max, "worker"));
      says = Weight::NotNow;
    } else if (const std::optional<std::string> later =
                   not_now(provider, context_.coming.starting(name), turn.mono())) {
      candidate.reason = *later;
      const uint32_t stuck = provider.state() == ProviderState::Overloaded ? context_.coming.held_up(name) : 0;
      if (stuck > 0) candidate.reason += cat(", of which ", stuck, stuck == 1 ? " does not start" : " do not start");
      says = Weight::NotNow;
    } else if (context_.coming.too_many_held_up(name, shape)) {
      candidate.reason = cat("has ", kMaxHeldUpWorkers, " workers that do not start");
      says = Weight::NotNow;
    } else {
      candidate.fits = true;
      if (best == nullptr || asked_before(shape, provider, *best)) best = &provider;
    }
    if (says != Weight::Nothing && shape.provider == name) says = Weight::Named;
    if (says > weight) {
      weight = says;
      reason = cat("provider ", name, " ", candidate.reason);
    }
    out.providers.push_back(std::move(candidate));
  }
  for (ProviderCandidate& candidate : out.providers)
    candidate.chosen = best != nullptr && candidate.name == best->row.name;
  explain_making(shape, job, out);
  // What a provider says comes first, unless the job waits for a worker that somebody started.
  const LiveJob* live = context_.jobs.table.find(job);
  const bool stands =
      live != nullptr && live->lane != nullptr && context_.creation.waits_for_standing_worker(*live->lane->shape, turn);
  if (stands || out.providers.empty()) return;
  if (!out.provisioning.empty()) {
    out.waiting_for = out.provisioning;
    out.unblock = "the registration of that worker, or another suitable worker";
  } else if (best != nullptr) {
    out.waiting_for = cat("provider ", best->row.name, " is going to create a worker for it");
  } else if (weight >= Weight::NotNow || (weight == Weight::Never && out.candidates.empty())) {
    out.waiting_for = reason;
    out.unblock = "a fix of the reason above, or a suitable worker";
  }
}

// The worker that is being made for it, or else for a job like it.
void Explanations::explain_making(const Shape& shape, JobId job, Explanation& out) const {
  bool is_own = false;
  for (const auto& [id, attempt] : context_.making.attempts) {
    const auto worker = context_.fleet.workers.all().find(id);
    if (worker == context_.fleet.workers.all().end() || is_own) continue;
    const Made& made = *worker->second->record->info.made;
    is_own = job != JobId{} && made.for_job == number(job);
    if (!is_own && attempt.shape != shape.encoded) continue;
    out.provisioning =
        cat("worker ", id.str(), " is being created by provider ", made.provider, is_own ? "" : " for a job like it",
            " (", name(worker->second->state), ")", attempt.held_up.empty() ? "" : ": ", attempt.held_up);
    const auto before = context_.making.refusals.find({made.provider, shape.encoded});
    if (attempt.held_up.empty() && before != context_.making.refusals.end()) {
      out.provisioning += cat("; the last attempt failed: ", before->second.reason);
    }
  }
}

std::string Explanations::unknown_place(const Shape& shape) const {
  const auto any_worker = [this](const auto& is_there) { return context_.placement.roster.workers.any(is_there); };
  if (!shape.pool.empty() && !context_.pools.all().contains(shape.pool) && !any_worker([&](const WorkerInfo& w) {
        const auto pool = w.labels.find("pool");
        return pool != w.labels.end() && pool->second == shape.pool;
      })) {
    return cat("pool '", shape.pool, "' does not exist, and no worker belongs to it (see `hodei pool list`)");
  }
  for (const auto& [what, name] :
       {std::pair("provider", &shape.provider), std::pair("preferred provider", &shape.preferred_provider)}) {
    if (name->empty() || context_.providers.all().contains(*name)) continue;
    if (any_worker([&, name = name](const WorkerInfo& w) { return w.provider == *name; })) continue;
    return cat(what, " '", *name, "' does not exist, and no worker comes from it (see `hodei provider list`)");
  }
  return {};
}

absl::Status Explanations::check_abilities(const Shape& shape) const {
  if (shape.asks == 0) return absl::OkStatus();
  const PoolRow* pool = context_.pools.of(shape);
  const std::string& name = shape.provider.empty() && pool != nullptr ? pool->provider : shape.provider;
  const LiveProvider* provider = context_.providers.find(name);
  if (provider == nullptr) return absl::OkStatus();
  const uint32_t missing = shape.asks & provider->facts.lacks;
  if (missing == 0) return absl::OkStatus();
  return bad_field((missing & kSandbox) != 0 ? "sandbox" : "secret_files", "workers of provider '", name,
                   "' cannot do this; leave it out (the container or pod already confines the job), or choose "
                   "another provider");
}

bool Explanations::is_wanted(const LiveProvider& provider) const {
  if (!provider.row.guessed || provider.workers > 0) return true;
  const std::string& name = provider.row.name;
  for (const auto& [pool, row] : context_.pools.all()) {
    if (row.provider == name) return true;
  }
  bool waited_for = false;
  context_.placement.roster.lanes.each(
      [&](const Lane& lane) { waited_for = waited_for || lane.shape->shape->provider == name; });
  return waited_for;
}

}  // namespace hodei::core
