// Explains placement: why each worker rejects a job, and what would help.
#pragma once

#include <string>
#include <vector>

#include "src/core/placement/lane.h"
#include "src/core/placement/strategy.h"

namespace hodei::core {

// A job, reduced to what matters for its placement.
struct Applicant {
  const Shape& shape;
  const Namespace& ns;
  Priority priority = Priority::Normal;
  LaneKey lane{};  // where it waits, if it does
};

// How a worker suits the job now.
Candidate candidate_of(const Applicant& job, const LiveWorker& worker, const SchedulerConfig& config);

void count(std::vector<RuleCount>& into, std::string_view rule);

// Why it waits, and what would get it placed.
std::string waiting_text(const std::vector<RuleCount>& rejected, size_t workers);
std::string unblock_text(const Shape& shape, const std::vector<RuleCount>& rejected, size_t workers);

}  // namespace hodei::core
