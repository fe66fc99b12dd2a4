// The worker's labels must match every label rule of the job.
#pragma once

#include <algorithm>

#include "src/base/text.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

// Nothing if the text is not a whole number: it cannot be compared, and the rule does not match.
std::optional<int64_t> whole_number(std::string_view text);

inline bool holds(const LabelRule& rule, const Labels& labels) {
  const auto it = labels.find(rule.key);
  const bool present = it != labels.end();
  const auto listed = [&] {
    return std::find(rule.values.begin(), rule.values.end(), it->second) != rule.values.end();
  };
  switch (rule.op) {
    case LabelOperator::In: return present && listed();
    case LabelOperator::NotIn: return !present || !listed();
    case LabelOperator::Exists: return present;
    case LabelOperator::DoesNotExist: return !present;
    case LabelOperator::Gt:
    case LabelOperator::Lt: break;
  }
  if (!present || rule.values.empty()) return false;
  const std::optional<int64_t> has = whole_number(it->second);
  const std::optional<int64_t> bound = whole_number(rule.values[0]);
  if (!has || !bound) return false;
  return rule.op == LabelOperator::Gt ? *has > *bound : *has < *bound;
}

inline std::optional<std::string> rejects_labels(const Shape& shape, const WorkerInfo& worker) {
  for (const LabelRule& rule : shape.labels) {
    if (holds(rule, worker.labels)) continue;
    const auto it = worker.labels.find(rule.key);
    return it == worker.labels.end() ? cat("has no label '", rule.key, "' that matches")
                                     : cat("has label ", rule.key, "=", it->second, ", which does not match");
  }
  return std::nullopt;
}

}  // namespace hodei::core
