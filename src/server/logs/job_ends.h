// What the job store knows about the ends of jobs, for the log hub.
#pragma once

#include "src/server/logs/log_types.h"
#include "src/store/store.h"

namespace hodei::server {

// The reader outlives it.
JobEnds job_ends_from(store::Reader& reader);

}  // namespace hodei::server
