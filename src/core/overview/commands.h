// Questions about several modules at once, and their answers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/fleet/state.h"
#include "src/core/jobs/job.h"
#include "src/core/jobs/state.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/shape.h"
#include "src/core/provision/commands.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct ExplainJob {
  JobId job{};
};
struct WhyWaiting {
  std::vector<JobId> jobs;
};  // what holds each back, besides the lack of a worker; fast, because lists ask it about all jobs they show
struct PreviewJob {
  ShapePtr shape;
  Namespace ns{};
};  // where such a job would go now
struct DescribeQueue {};
struct DescribeSystem {};

struct Explanation {
  JobId job{};
  JobState state{};
  std::optional<Decision> decision;  // of the newest execution
  uint32_t execution = 0;
  WallTime at;
  std::vector<Candidate> candidates;  // of a waiting job
  std::vector<RuleCount> rejected;
  std::string waiting_for;
  std::string unblock;  // what would get it placed, as text
  int64_t jobs_ahead = 0;
  std::vector<ProviderCandidate> providers;
  std::string provisioning;  // the worker that is being created for it, as text
};

// One text per job, in the order of the question. Empty: only a worker is missing, or the job is not waiting.
struct WaitReasons {
  std::vector<std::string> reasons;
};

struct QueueReport {
  int64_t pending = 0, scheduled = 0, running = 0, delayed = 0, parked = 0;
  int64_t by_priority[kPriorities] = {};
  std::map<std::string, int64_t> by_namespace;
  int64_t shapes = 0, workers = 0, workers_available = 0, slots = 0, slots_free = 0;
};

struct SystemReport {
  int64_t pending = 0, active = 0, workers = 0, unhealthy = 0;
  int64_t bad_providers = 0;     // needed but Unhealthy
  std::string provider_trouble;  // of the first of them, as text
  // Workers as lists show them, indexed by state, without those that announced a stop and are away.
  std::array<int64_t, kWorkerStates + 1> by_state{};
  int64_t stopped = 0;
};

using OverviewQuestions = TypeList<ExplainJob, WhyWaiting, PreviewJob, DescribeQueue, DescribeSystem>;
using OverviewAnswers = TypeList<Explanation, WaitReasons, QueueReport, SystemReport>;

}  // namespace hodei::core
