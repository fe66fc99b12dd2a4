// Translates a JobSpec from protobuf into the plain struct that the core validates.
#pragma once

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"
#include "src/base/finite.h"
#include "src/core/jobs/spec.h"

namespace hodei::spec {

// What does not fit into the small enums inside must not come out as another value of theirs: 255 is none of them.
template <class Enum>
Enum checked_enum(int value) {
  return static_cast<Enum>(value < 0 || value > 255 ? 255 : value);
}

// Requests name cores in thousandths, or, as older callers do, as a fraction.
inline int64_t milli_of(int64_t milli, double cores) { return milli != 0 ? milli : milli_cores(cores); }

core::JobSpec from_proto(const v1::JobSpec& spec);

// Checks amounts that `core::validate` cannot check, because it has them as whole numbers.
absl::Status check_fractions(const v1::JobSpec& spec);

}  // namespace hodei::spec
