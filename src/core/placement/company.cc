#include "src/core/placement/rules/company.h"

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

bool has_company(const LabelRule& rule, const LiveWorker& worker) {
  for (const auto& [execution, labels] : worker.company) {
    if (holds(rule, *labels)) return true;
  }
  // The others have no labels.
  return worker.executions.size() > worker.company.size() && holds(rule, kNone);
}

std::optional<std::string> rejects_company(const Shape& shape, const LiveWorker& worker) {
  for (const CompanyRule& c : shape.company) {
    if (!c.required || has_company(c.rule, worker) != c.away) continue;
    return c.away ? cat("runs a job with ", in_words(c.rule), ", which the job keeps away from")
                  : cat("runs no job with ", in_words(c.rule), ", which the job must run beside");
  }
  return std::nullopt;
}

bool could_have_company(const Shape& shape, const LiveWorker& worker) {
  return std::all_of(shape.company.begin(), shape.company.end(),
                     [&](const CompanyRule& c) { return !c.required || c.away || has_company(c.rule, worker); });
}

Fit in_company(const Shape& shape, Fit fit, const LiveWorker& worker) {
  for (const CompanyRule& c : shape.company) {
    if (c.required) continue;
    fit = with_wishes(fit, kCompanyWeight, has_company(c.rule, worker) != c.away ? kCompanyWeight : 0);
  }
  return fit;
}

bool prefers_company(const Shape& shape) {
  return std::any_of(shape.company.begin(), shape.company.end(), [](const CompanyRule& c) { return !c.required; });
}

std::string in_words(const LabelRule& rule) {
  std::string values;
  for (const std::string& value : rule.values) values += cat(values.empty() ? "" : ", ", value);
  if (rule.values.empty()) return cat(rule.key, " ", name(rule.op));
  return cat(rule.key, " ", name(rule.op), " (", values, ")");
}

}  // namespace hodei::core
