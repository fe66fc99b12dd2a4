// Reads what is stored about one execution: which worker has it, and whether it has ended.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "src/base/ids.h"
#include "src/store/store.h"

namespace hodei::api {

struct ExecutionFacts {
  WorkerId worker;                   // that it was given to
  std::string ns;                    // of its job
  bool is_current = false;           // it may still run: nobody has reported or proven its end
  std::optional<int64_t> log_bytes;  // how much it printed, as its recorded result says
  WallTime ended;                    // as its recorded result says; not set: it has not
  std::string spec;                  // of its job, serialized
};

// NOT_FOUND when there is no such execution. Reads from the disk.
absl::StatusOr<ExecutionFacts> find_execution(store::Reader& reader, ExecutionId execution);

// PERMISSION_DENIED unless the execution was given to this worker.
absl::Status check_owner(const ExecutionFacts& facts, ExecutionId execution, const WorkerId& worker);

}  // namespace hodei::api
