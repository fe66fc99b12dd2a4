// Lists of jobs, newest first.
#pragma once

#include "src/store/sqlite/connection.h"
#include "src/store/store.h"

namespace hodei::store {

absl::StatusOr<JobPage> list_jobs(Connection& db, const JobQuery& query, const ReadLimit& limit);

}  // namespace hodei::store
