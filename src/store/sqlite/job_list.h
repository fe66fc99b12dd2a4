// Lists of jobs, live and finished ones merged, newest first.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "src/store/sqlite/connection.h"
#include "src/store/store.h"

namespace hodei::store {

absl::StatusOr<std::vector<JobView>> list_jobs(Connection& db, const JobQuery& query);

}  // namespace hodei::store
