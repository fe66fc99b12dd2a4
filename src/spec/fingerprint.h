// Compares two specs: computes a fingerprint that is equal for specs that describe the same job.
#pragma once

#include <cstdint>
#include <string>

#include "hodei/v1/job.pb.h"

namespace hodei::spec {

// What makes two submissions the same: all of the spec but its key, its trace, and the values of its secrets, which are
// sealed anew each time. Never 0.
uint64_t fingerprint_of(const v1::JobSpec& spec);

// In what they differ, for people: "env["A"]: "1" -> "2"; timeout_ms: 5 -> 6". Both are serialized specs.
std::string differences(const std::string& first, const std::string& now);

}  // namespace hodei::spec
