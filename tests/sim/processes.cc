#include "tests/sim/processes.h"

namespace hodei::sim {
namespace {

// From the end of a time-out to the death of the tree: SIGTERM, the longest grace time, SIGKILL, and a little.
constexpr Duration kLongestGrace = 6s;

}  // namespace

void Processes::started(ExecutionId execution, const std::string& worker, Duration timeout) {
  RealRun run;
  run.worker = worker;
  run.started = world_.now().mono;
  run.timeout = timeout;
  if (!runs_.emplace(execution, run).second) world_.broken(cat("I3: ", to_string(execution), " was started twice"));
  alive_[execution.job].insert(execution);
  check_alone(execution);
}

void Processes::failed_to_start(ExecutionId execution, const std::string& worker) {
  RealRun run;
  run.worker = worker;
  run.failed_to_start = true;
  if (!runs_.emplace(execution, run).second) world_.broken(cat("I3: ", to_string(execution), " was started twice"));
}

void Processes::check_alone(ExecutionId execution) {
  for (const ExecutionId& other : running(execution.job)) {
    if (other != execution) world_.broken(cat("I4: ", to_string(execution), " runs while ", to_string(other), " runs"));
  }
}

void Processes::ended(ExecutionId execution, int exit_code, int signal) {
  alive_[execution.job].erase(execution);
  frozen_.erase(execution);
  RealRun& run = runs_.at(execution);
  run.end = RealEnd{exit_code, signal, world_.now().mono};
  if (run.timeout > Duration(0) && !run.disturbed && run.end->at - run.started > run.timeout + kLongestGrace) {
    world_.broken(cat(to_string(execution), " ran ", (run.end->at - run.started).count() / 1000,
                      " ms, its time-out is ", run.timeout.count() / 1000, " ms"));
  }
}

void Processes::frozen(ExecutionId execution, bool yes) {
  if (yes) {
    frozen_.insert(execution);
    runs_.at(execution).disturbed = true;
  } else if (frozen_.erase(execution) > 0) {
    check_alone(execution);
  }
}

void Processes::supervisor_died(const std::string& worker) {
  for (const auto& [job, copies] : alive_) {
    for (const ExecutionId& execution : copies) {
      if (RealRun& run = runs_.at(execution); run.worker == worker) run.disturbed = true;
    }
  }
}

const RealRun* Processes::run(ExecutionId execution) const {
  const auto it = runs_.find(execution);
  return it == runs_.end() ? nullptr : &it->second;
}

std::set<ExecutionId> Processes::running(JobId job) const {
  std::set<ExecutionId> out;
  const auto it = alive_.find(job);
  if (it == alive_.end()) return out;
  for (const ExecutionId& execution : it->second) {
    if (!frozen_.contains(execution)) out.insert(execution);
  }
  return out;
}

}  // namespace hodei::sim
