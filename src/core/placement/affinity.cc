#include "src/core/placement/rules/affinity.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/core/placement/rules/labels.h"

namespace hodei::core {
namespace {

const Labels kNone;

std::string_view name(LabelOperator op) {
  switch (op) {
    case LabelOperator::In: return "In";
    case LabelOperator::NotIn: return "NotIn";
    case LabelOperator::Exists: return "Exists";
    case LabelOperator::DoesNotExist: return "DoesNotExist";
    case LabelOperator::Gt: return "Gt";
    case LabelOperator::Lt: return "Lt";
  }
  return "?";
}

}  // namespace

bool has_matching_job(const LabelRule& rule, const LiveWorker& worker) {
  for (const auto& [execution, labels] : worker.job_labels) {
    if (holds(rule, *labels)) return true;
  }
  // The others have no labels.
  return worker.executions.size() > worker.job_labels.size() && holds(rule, kNone);
}

std::optional<std::string> rejects_affinity(const Shape& shape, const LiveWorker& worker) {
  for (const AffinityRule& c : shape.affinity) {
    if (!c.required || has_matching_job(c.rule, worker) != c.anti) continue;
    return c.anti ? cat("runs a job with ", as_text(c.rule), ", which the job must stay away from")
                  : cat("runs no job with ", as_text(c.rule), ", which the job must run next to");
  }
  return std::nullopt;
}

bool meets_required_affinity(const Shape& shape, const LiveWorker& worker) {
  return std::all_of(shape.affinity.begin(), shape.affinity.end(),
                     [&](const AffinityRule& c) { return !c.required || c.anti || has_matching_job(c.rule, worker); });
}

Fit with_affinity(const Shape& shape, Fit fit, const LiveWorker& worker) {
  for (const AffinityRule& c : shape.affinity) {
    if (c.required) continue;
    fit = with_preferences(fit, kAffinityWeight, has_matching_job(c.rule, worker) != c.anti ? kAffinityWeight : 0);
  }
  return fit;
}

bool has_preferred_affinity(const Shape& shape) {
  return std::any_of(shape.affinity.begin(), shape.affinity.end(), [](const AffinityRule& c) { return !c.required; });
}

std::string as_text(const LabelRule& rule) {
  std::string values;
  for (const std::string& value : rule.values) values += cat(values.empty() ? "" : ", ", value);
  if (rule.values.empty()) return cat(rule.key, " ", name(rule.op));
  return cat(rule.key, " ", name(rule.op), " (", values, ")");
}

}  // namespace hodei::core
