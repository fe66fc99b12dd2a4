// Replaces the parameters of a template in every string of a message.
#pragma once

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "src/core/jobs/template.h"

namespace hodei::spec {

absl::Status render(const core::Values& values, google::protobuf::Message& message);

}  // namespace hodei::spec
