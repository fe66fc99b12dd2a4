#include "src/core/jobs/draft.h"

#include "src/base/status.h"

namespace hodei::core {

Draft::Draft(const JobHead& from) : head(from) {
  if (head.past != nullptr) past = *head.past;
  first_new_ = transition_count(from);
}

void Draft::move(JobEvent on, WallTime at, std::string reason) {
  const std::optional<JobState> to = next(head.state, on);
  HODEI_CHECK(to.has_value());
  past.transitions.push_back({*to, head.state, at, head.executions, reason});
  past.reason = std::move(reason);
  head.state = *to;
}

Execution& Draft::execution() {
  HODEI_CHECK(!past.executions.empty());
  return past.executions.back();
}

std::vector<ArchivedExecution> Draft::archive() {
  std::vector<ArchivedExecution> out;
  if (past.executions.empty()) return out;
  for (Execution& e : past.executions) out.push_back({std::move(e), {}});
  past.executions.clear();
  past.archived_transitions += static_cast<uint32_t>(past.transitions.size());
  if (!past.transitions.empty()) past.archived_until = past.transitions.back().at;
  size_t at = 0;
  for (Transition& t : past.transitions) {
    while (at + 1 < out.size() && out[at].execution.number < t.execution) ++at;
    out[at].transitions.push_back(std::move(t));
  }
  past.transitions.clear();
  return out;
}

JobPtr Draft::finish() {
  head.past = std::make_shared<const Past>(std::move(past));
  return std::make_shared<const JobHead>(std::move(head));
}

}  // namespace hodei::core
