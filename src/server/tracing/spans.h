// A finished job as spans: the job, each time it waited, each execution, and the phases of each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/base/trace.h"
#include "src/core/jobs/job.h"
#include "src/core/writes.h"

namespace hodei::server {

struct Span {
  Hash128 trace;
  uint64_t id = 0;
  uint64_t parent = 0;  // 0: none
  std::string name;
  WallTime start;
  WallTime end;
  std::map<std::string, std::string> attributes;
  std::string error;  // not empty: it failed, and why
};

// Nothing for a job whose caller does not want it recorded. `archived`: what came before the newest execution, newest
// first.
std::vector<Span> spans_of(const core::JobHead& job, const core::SpecRow& spec,
                           const std::vector<core::ArchivedExecution>& archived = {});

}  // namespace hodei::server
