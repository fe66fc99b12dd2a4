// Where the values of a job's secrets may not be. Whoever only shows or stores specs needs no cryptography.
#pragma once

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"

namespace hodei::spec {

// A template holds names only.
absl::Status refuse_values(const v1::JobSpec& spec);

// Only the names stay.
void hide_secrets(v1::JobSpec& spec);

}  // namespace hodei::spec
