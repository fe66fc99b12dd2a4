// A placement in words: what each worker has against a job, and what would help.
#pragma once

#include <string>
#include <vector>

#include "src/core/placement/lane.h"
#include "src/core/placement/strategy.h"

namespace hodei::core {

// What a worker says to a job of this shape and class right now; `lane` is where it waits, if it does.
Candidate candidate_of(const Shape& shape, Priority priority, const LaneKey& lane, const LiveWorker& worker,
                       const SchedulerConfig& config);

void count(std::vector<RuleCount>& into, std::string_view rule);

// Why it waits, and what would get it placed.
std::string waiting_words(const std::vector<RuleCount>& rejected, size_t workers);
std::string unblock_words(const Shape& shape, const std::vector<RuleCount>& rejected, size_t workers);

}  // namespace hodei::core
