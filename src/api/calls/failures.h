// Translates the failure code of a result into the enum of the API, and into advice for people.
#pragma once

#include <string_view>

#include "hodei/v1/job.pb.h"

namespace hodei::api {

v1::Failure::Reason reason_of(std::string_view failure);

// One sentence; empty for what needs none.
std::string_view suggestion_for(std::string_view failure);

}  // namespace hodei::api
