#include "src/store/job_facts.h"

#include <algorithm>

#include "src/core/placement/rules/labels.h"

namespace hodei::store {
namespace {

using core::JobHead;
using core::JobState;

constexpr uint64_t kStepsPerExecution = 3;

uint64_t step_in_execution(JobState state) {
  switch (state) {
    case JobState::Scheduled: return 1;
    case JobState::Running: return 2;
    default: return 3;  // back in the queue, or ended
  }
}

}  // namespace

uint64_t step_of(const JobHead& job) {
  return uint64_t{job.executions} * kStepsPerExecution + step_in_execution(job.state);
}

const std::string& last_worker(const JobHead& job) {
  if (!job.worker.empty() || job.past == nullptr || job.past->executions.empty()) return job.worker.str();
  return job.past->executions.back().worker.str();
}

WallTime ended_of(const JobHead& job) {
  return job.past == nullptr || job.past->transitions.empty() ? job.created : job.past->transitions.back().at;
}

bool head_matches(const JobQuery& query, const JobHead& job) {
  if (number(query.before) != 0 && (query.oldest_first ? job.id <= query.before : job.id >= query.before)) return false;
  if (query.since.is_set() && job.created < query.since) return false;
  if (query.until.is_set() && job.created >= query.until) return false;
  if (!query.ns.empty() && query.ns != job.ns.str()) return false;
  if (!query.states.empty() && std::ranges::find(query.states, job.state) == query.states.end()) return false;
  return query.worker.empty() || query.worker == last_worker(job);
}

bool texts_match(const JobQuery& query, const std::string& name, const core::Labels& labels) {
  if (!query.name.empty() && name != query.name) return false;
  if (name.find(query.name_contains) == std::string::npos) return false;
  if (!std::ranges::all_of(query.rules, [&](const core::LabelRule& rule) { return core::holds(rule, labels); })) {
    return false;
  }
  return std::ranges::all_of(query.labels, [&](const auto& wanted) {
    const auto found = labels.find(wanted.first);
    return found != labels.end() && found->second == wanted.second;
  });
}

}  // namespace hodei::store
