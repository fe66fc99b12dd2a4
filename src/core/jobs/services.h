// Jobs as the fleet and placement see them.
#pragma once

#include <string>
#include <utility>

#include "src/core/fleet/ports.h"
#include "src/core/jobs/dispatches.h"
#include "src/core/jobs/reports.h"
#include "src/core/jobs/requeues.h"
#include "src/core/jobs/table.h"
#include "src/core/placement/ports.h"

namespace hodei::core {

class WorkersExecutions final : public Executions {
 public:
  WorkersExecutions(JobTable& jobs, Requeues& requeues, Reports& reports)
      : jobs_(jobs), requeues_(requeues), reports_(reports) {}

  const JobHead& job_of(ExecutionId execution) const override { return *jobs_.find(execution.job)->head; }
  const JobHead* current(const WorkerId& worker, ExecutionId execution) const override;
  bool was_given(const WorkerId& worker, ExecutionId execution) const override;
  void started(const WorkerId& worker, ExecutionId execution, Turn& turn) override;
  void lose(ExecutionId execution, const std::string& why, Turn& turn) override;
  void hear_of_interruption(const WorkerId& worker, ExecutionId execution, Turn& turn) override;
  void put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) override;

 private:
  JobTable& jobs_;
  Requeues& requeues_;
  Reports& reports_;
};

class WaitingJobs final : public Dispatch {
 public:
  WaitingJobs(JobTable& jobs, Requeues& requeues, Dispatches& dispatches)
      : jobs_(jobs), requeues_(requeues), dispatches_(dispatches) {}

  LiveJob* find(JobId job) const override { return jobs_.find(job); }
  void dispatch(JobId job, LiveWorker& worker, Decision decision, Turn& turn) override {
    dispatches_.dispatch(job, worker, std::move(decision), turn);
  }
  void put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) override {
    requeues_.put_back(job, kind, why, turn);
  }

 private:
  JobTable& jobs_;
  Requeues& requeues_;
  Dispatches& dispatches_;
};

}  // namespace hodei::core
