#include "src/store/batch.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/store/job_facts.h"
#include "src/store/refusals.h"

namespace hodei::store {

using core::EraseJob;
using core::FinishJob;
using core::JobHead;
using core::PutExecution;
using core::PutJob;
using core::PutNextJob;
using core::PutScheduler;
using core::PutSpec;
using core::Write;

absl::Status Batch::fold(const core::Writes& writes) {
  jobs_.clear();
  index_.clear();
  index_.reserve(writes.size());
  others_.clear();
  erased_.clear();
  archived_.clear();
  next_job_.reset();
  scheduler_ = nullptr;
  for (const Write& write : writes) {
    if (const auto* spec = std::get_if<PutSpec>(&write)) {
      RETURN_IF_ERROR(add_spec(*spec->spec));
    } else if (const auto* put = std::get_if<PutJob>(&write)) {
      RETURN_IF_ERROR(add_job(*put->job, false));
    } else if (const auto* finish = std::get_if<FinishJob>(&write)) {
      RETURN_IF_ERROR(add_job(*finish->job, true));
    } else if (const auto* next = std::get_if<PutNextJob>(&write)) {
      next_job_ = next->next;
    } else if (const auto* scheduler = std::get_if<PutScheduler>(&write)) {
      scheduler_ = &scheduler->config;
    } else {
      if (const auto* erase = std::get_if<EraseJob>(&write)) erased_.push_back(erase->job);
      if (const auto* archived = std::get_if<PutExecution>(&write)) {
        archived_.push_back({archived->job, archived->archived->execution.number});
      }
      others_.push_back(&write);
    }
  }
  for (const JobChange& change : jobs_) {
    if (change.last == nullptr) return refused(change.job, "its spec came without the job");
  }
  std::ranges::sort(jobs_, {}, &JobChange::job);
  return absl::OkStatus();
}

JobChange& Batch::change_of(JobId job) {
  const auto [at, is_new] = index_.try_emplace(job, jobs_.size());
  if (is_new) jobs_.push_back({.job = job});
  return jobs_[at->second];
}

absl::Status Batch::add_spec(const core::SpecRow& spec) {
  JobChange& change = change_of(spec.job);
  if (change.spec != nullptr) return refused(spec.job, "its spec is written once only");
  change.spec = &spec;
  return absl::OkStatus();
}

absl::Status Batch::add_job(const JobHead& job, bool finished) {
  if (number(job.id) == 0) return refused(job.id, "it has no number");
  if (core::is_terminal(job.state) != finished) {
    return refused(job.id, cat(finished ? "finished" : "live", " in state ", core::name(job.state)));
  }
  JobChange& change = change_of(job.id);
  const uint64_t step = step_of(job);
  if (change.finished) return refused(job.id, "it has ended, and an end is final");
  if (change.last == nullptr) {
    change.first_step = step;
  } else if (step < step_of(*change.last)) {
    return refused(job.id, cat("from ", core::name(change.last->state), " it cannot go to ", core::name(job.state),
                               " in execution ", job.executions));
  }
  change.last = &job;
  change.finished = finished;
  return absl::OkStatus();
}

}  // namespace hodei::store
