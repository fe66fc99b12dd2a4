#include "src/core/placement/explain.h"

#include <algorithm>

#include "src/base/counted.h"
#include "src/base/text.h"
#include "src/core/placement/rules/affinity.h"
#include "src/core/placement/rules/namespace.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {
namespace {

struct Against {
  std::string_view rule;
  std::string reason;
};

// What speaks against a worker that could run such a job at another time, and what would change it.
struct Passing {
  std::string_view rule;
  std::string_view unblocked_by;
};

constexpr Passing kPassing[] = {
    {"capacity", "running jobs that finish, or a smaller request"},
    {"slots", "a running job that finishes, or more workers"},
    {kAffinityRule, "a job it must run next to, or the end of those it must stay away from"},
    {"reserved", "the start of the job that the worker is reserved for"},
    {"threshold", "a lower threshold (`hodei scheduler set --threshold`), or less loaded workers"},
    {"connected", "a worker that reconnects"},
    {"healthy", "a worker that reconnects"},
    {"fit", "a worker that reports itself well again, or another worker"},
    {"state", "another worker"},
    {"pause", "the end of its pause, or another worker"},
};

std::optional<Against> right_now(const Applicant& job, const LiveWorker& w) {
  const Shape& shape = job.shape;
  if (!takes_work(w.state)) return {{"state", cat("is ", name(w.state))}};
  if (!w.in_service()) return {{"state", w.connected ? "is being stopped" : "has been stopped"}};
  if (!w.connected) return {{"connected", "is not connected"}};
  if (w.unhealthy) return {{"healthy", "is unhealthy"}};
  if (!w.unfit.empty()) return {{"fit", cat("reports itself unfit: ", w.unfit)}};
  if (w.paused) return {{"pause", "did not start the last job it was given and gets no jobs for a while"}};
  if (!w.has_slot()) return {{"slots", cat("all ", w.record->info.slots, " slots are in use")}};
  if (!w.free().covers(shape.needs)) return {{"capacity", "has too little free capacity right now"}};
  if (std::optional<std::string> no = rejects_affinity(shape, w)) return {{kAffinityRule, *std::move(no)}};
  if (w.reserved.priority >= static_cast<uint8_t>(job.priority) && w.reserved != job.lane) {
    return {{"reserved", "is reserved for a job that has waited long"}};
  }
  return std::nullopt;
}

const RuleCount* worst_of(const std::vector<RuleCount>& rejected) {
  const auto it = std::max_element(rejected.begin(), rejected.end(),
                                   [](const RuleCount& a, const RuleCount& b) { return a.workers < b.workers; });
  return it == rejected.end() ? nullptr : &*it;
}

std::string_view unblocked_by(std::string_view name) {
  if (name == kNamespaceRule) return "a worker that serves the job's namespace";
  for (const Rule& rule : rules()) {
    if (rule.name == name) return rule.unblocked_by;
  }
  for (const Passing& rule : kPassing) {
    if (rule.rule == name) return rule.unblocked_by;
  }
  return {};
}

bool is_passing(const RuleCount& r) {
  return std::any_of(std::begin(kPassing), std::end(kPassing), [&](const Passing& p) { return p.rule == r.rule; });
}

}  // namespace

Candidate candidate_of(const Applicant& job, const LiveWorker& worker, const SchedulerConfig& config) {
  const Shape& shape = job.shape;
  Candidate out;
  out.worker = worker.id();
  const WorkerInfo& info = worker.record->info;
  if (const std::optional<std::string> no = rejects_namespace(job.ns.str(), info)) {
    out.rule = kNamespaceRule;
    out.reason = *no;
    return out;
  }
  if (const std::optional<Rejection> no = first_rejection(shape, info)) {
    out.rule = no->rule->name;
    out.reason = no->reason;
    return out;
  }
  if (const std::optional<Against> busy = right_now(job, worker)) {
    out.rule = busy->rule;
    out.reason = busy->reason;
    return out;
  }
  const Fit fit = with_affinity(shape, fit_of(shape, info), worker);
  out.score = score_of(worker, fit, config);
  out.fits = is_kept(rank_of(worker, config), fit, config);
  if (!out.fits) {
    out.rule = "threshold";
    out.reason = cat("scores ", out.score.total(), ", not above ", config.threshold);
  }
  return out;
}

void count(std::vector<RuleCount>& into, std::string_view rule) {
  const auto it = std::find_if(into.begin(), into.end(), [&](const RuleCount& r) { return r.rule == rule; });
  if (it != into.end()) {
    ++it->workers;
  } else {
    into.push_back({std::string(rule), 1});
  }
}

std::string waiting_text(const std::vector<RuleCount>& rejected, size_t workers) {
  if (workers == 0) return "there are no workers; start one with `hodei agent`";
  const RuleCount* worst = worst_of(rejected);
  if (worst == nullptr) return "a worker is available; the job is next";
  return cat("no worker is suitable: ", worst->workers, " of ", workers, " rejected by the rule '", worst->rule, "'");
}

std::string unblock_text(const Shape& shape, const std::vector<RuleCount>& rejected, size_t workers) {
  if (workers == 0) return cat("a worker", shape.pool.empty() ? "" : cat(" in pool '", shape.pool, "'"));
  // What passes by itself comes before what somebody has to do something about.
  std::vector<RuleCount> order = rejected;
  std::stable_sort(order.begin(), order.end(), [](const RuleCount& a, const RuleCount& b) {
    return is_passing(a) != is_passing(b) ? is_passing(a) : a.workers > b.workers;
  });
  std::string out;
  for (const RuleCount& r : order) {
    const std::string_view by = unblocked_by(r.rule);
    if (by.empty() || out.find(by) != std::string::npos) continue;
    out += cat(out.empty() ? "" : "; or ", by, " (", counted(r.workers, "worker"), ")");
  }
  return out;
}

}  // namespace hodei::core
