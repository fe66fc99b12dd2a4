// One line in the journal for each step of a job, with the trace that it belongs to; for whoever wants to see
// everything. The trace is in the spec, so a line about a job whose spec is not at hand is written by a thread that may
// read.
#pragma once

#include <memory>

#include "src/core/jobs/job.h"
#include "src/core/writes.h"
#include "src/server/read_pool.h"
#include "src/store/store.h"

namespace hodei::server {

class StepJournal {
 public:
  // Both outlive it.
  StepJournal(store::Reader& reader, ReadPool& pool) : reader_(reader), pool_(pool) {}

  // Transitions from `first` on. `spec` may be null. Never blocks; when too many reads wait, the trace is left out.
  void tell(const core::JobPtr& job, size_t first, std::shared_ptr<const core::SpecRow> spec);

 private:
  store::Reader& reader_;
  ReadPool& pool_;
};

}  // namespace hodei::server
