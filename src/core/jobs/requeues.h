// Requeues jobs whose execution was lost, interrupted, preempted or evicted. A job that has no attempts left fails
// instead.
#pragma once

#include <string>

#include "src/core/jobs/moves.h"
#include "src/core/routing.h"

namespace hodei::core {

class Requeues {
 public:
  Requeues(JobTable& jobs, Fleet& fleet, Moves& moves)
      : jobs_(jobs), workers_(fleet.workers), pauses_(fleet.pauses), moves_(moves) {}

  // `failure`: the failure the worker reported, if any.
  void lose(ExecutionId execution, const std::string& why, Turn& turn, const std::string& failure = {});
  // As with a cancel, the request is stored first, and the job moves when its worker says that it is dead, or the lease
  // proves it.
  void put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn);
  void end_put_back(Draft& draft, const ResultReport& r, Turn& turn);
  void retry_if_allowed(Draft& draft, const std::string& reason, const Turn& turn) const;
  // An earlier start of the worker was stopped and had ended this execution, or not started it.
  void hear_of_interruption(const WorkerId& worker, ExecutionId execution, Turn& turn);

 private:
  void send_again_later(Draft& draft, const std::string& why, const Turn& turn) const;
  void return_to_queue(Draft& draft, const Turn& turn) const;
  bool count_interruption(Draft& draft, const Turn& turn) const;  // true: it counts as an attempt
  void end_interrupted_too_often(Draft& draft, const std::string& why, const Turn& turn) const;

  JobTable& jobs_;
  Workers& workers_;
  Pauses& pauses_;
  Moves& moves_;
};

}  // namespace hodei::core
