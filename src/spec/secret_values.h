// Checks that a spec has no readable values of secrets, and removes them. It uses no cryptography, so that code which
// only shows or stores specs does not need any.
#pragma once

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"

namespace hodei::spec {

// A template holds names only.
absl::Status refuse_values(const v1::JobSpec& spec);

// Only the names stay.
void hide_secrets(v1::JobSpec& spec);

}  // namespace hodei::spec
