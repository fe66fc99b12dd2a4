// Formats jobs for people.
#pragma once

#include <string>
#include <vector>

#include "hodei/v1/job.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "src/base/time.h"
#include "src/cli/terminal/style.h"

namespace hodei::cli {

struct ViewOptions {
  Style style;
  bool wide = false;
  WallTime now{};
};

WallTime wall_time(const google::protobuf::Timestamp& time);             // not set: 0
std::string age(const google::protobuf::Timestamp& time, WallTime now);  // "3m05s", or "-"
std::string command_line(const v1::Command& command);                    // as one would type it

std::string job_table(const std::vector<const v1::Job*>& jobs, const ViewOptions& options);
std::string job_page(const v1::Job& job, const ViewOptions& options);
std::string decision_text(const v1::SchedulingDecision& decision, const v1::Job& job, const ViewOptions& options);
// Why a job waits, in one line: what `job explain` says first. Empty: nothing is known.
std::string waiting_text(const v1::SchedulingDecision& decision);
std::string preview_text(const v1::SchedulingDecision& decision, const ViewOptions& options);  // of a dry run
std::string event_line(WallTime at, const v1::Transition& transition, const ViewOptions& options);

}  // namespace hodei::cli
