// What the fleet asks of the modules that are built on it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "src/core/fleet/live.h"
#include "src/core/jobs/job.h"
#include "src/core/turn.h"

namespace hodei::core {

// Placement: jobs that wait for a worker.
class RoomForJobs {
 public:
  virtual ~RoomForJobs() = default;
  // A worker has a new record. Listed: jobs may be placed on it.
  virtual void record(LiveWorker& worker, const WorkerRecordPtr& record, bool is_listed) = 0;
  virtual void remove(LiveWorker& worker) = 0;
  // Something has changed that affects the worker's rank, room or availability.
  virtual void refresh(LiveWorker& worker) = 0;
  // Whether there is memory for a worker of this kind.
  virtual absl::Status check_kind(const WorkerInfo& info) const = 0;
  // Gives waiting jobs to a worker that may have room.
  virtual void fill(LiveWorker& worker, Turn& turn) = 0;
  // Likewise, at the end of the decision.
  virtual void fill_later(const WorkerId& worker) = 0;
  // Jobs may fit on other workers than those that are reserved for them.
  virtual void check_reservations(Turn& turn) = 0;
  // A lower load may lift a worker over the threshold of what waits.
  virtual bool has_threshold() const = 0;
};

// Jobs: what the worker runs.
class Executions {
 public:
  virtual ~Executions() = default;
  // The job of an execution that workers have.
  virtual const JobHead& job_of(ExecutionId execution) const = 0;
  // Null if it is not the worker's current execution of its job.
  virtual const JobHead* current(const WorkerId& worker, ExecutionId execution) const = 0;
  virtual bool was_given(const WorkerId& worker, ExecutionId execution) const = 0;  // as far as memory knows
  virtual void started(const WorkerId& worker, ExecutionId execution, Turn& turn) = 0;
  virtual void lose(ExecutionId execution, const std::string& why, Turn& turn) = 0;
  // An earlier start of the worker was stopped and had ended this execution, or not started it.
  virtual void hear_of_interruption(const WorkerId& worker, ExecutionId execution, Turn& turn) = 0;
  virtual void put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn) = 0;
};

// Provisioning: who made the worker.
class Makers {
 public:
  virtual ~Makers() = default;
  // Null: there was none before, or there is none any more.
  virtual void count(const WorkerRecord* before, const WorkerRecord* after, size_t executions) = 0;
  // Something has changed that may require a worker.
  virtual void look_again() = 0;
  virtual void registered(const WorkerId& worker, Turn& turn) = 0;
  virtual void has_come(LiveWorker& worker, Turn& turn) = 0;  // it has registered and opened its stream
  virtual void has_started_a_job(const LiveWorker& worker) = 0;
  virtual void is_unfit(const LiveWorker& worker, Turn& turn) = 0;
  virtual void left(LiveWorker& worker, Turn& turn) = 0;  // its record is Terminating from now on
  virtual void destroy(LiveWorker& worker, Turn& turn) = 0;
  virtual void give_up(LiveWorker& worker, const std::string& reason, Turn& turn) = 0;
  virtual void stall(Duration length) = 0;
};

struct FleetPorts {
  RoomForJobs* room = nullptr;
  Executions* executions = nullptr;
  Makers* makers = nullptr;
};

}  // namespace hodei::core
