// The other end of $HODEI_SOCKET: `"$HODEI_WORKER" progress 40 halfway` and `"$HODEI_WORKER" output key=value`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/worker/reports/report_line.h"

namespace hodei::worker {

// The arguments of the command line, the verb first, as reports. The error says what to write instead.
absl::StatusOr<std::vector<ReportLine>> read_report_arguments(const std::vector<std::string>& words);

// Hands the reports over and waits until each is answered. An agent that is just being replaced is waited for.
absl::Status send_reports(const std::string& socket, const HelloLine& hello, const std::vector<ReportLine>& reports,
                          Duration patience);

// A whole command, with what the job's environment says; the process's exit code.
int run_report(const std::vector<std::string>& words);

}  // namespace hodei::worker
