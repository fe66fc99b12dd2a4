#include "src/core/job/draft.h"

#include "src/base/status.h"

namespace hodei::core {

Draft::Draft(const JobHead& from) : head(from) {
  if (head.past != nullptr) past = *head.past;
  first_new_ = past.transitions.size() + 1;
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

JobPtr Draft::finish() {
  head.past = std::make_shared<const Past>(std::move(past));
  return std::make_shared<const JobHead>(std::move(head));
}

}  // namespace hodei::core
