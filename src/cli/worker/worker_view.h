// Formats workers for people.
#pragma once

#include <string>

#include "hodei/v1/worker_service.pb.h"
#include "src/cli/job/job_view.h"

namespace hodei::cli {

std::string worker_table(const v1::ListWorkersResponse& workers, const ViewOptions& options);
std::string worker_page(const v1::Worker& worker, const ViewOptions& options);
std::string expiry(const v1::CreateOtpResponse& otp, const Style& style);

}  // namespace hodei::cli
