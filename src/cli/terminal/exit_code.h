// The exit code of `hodei run`: that of the job, or a code that shells and timeout(1) use.
#pragma once

#include "hodei/v1/job.pb.h"

namespace hodei::cli {

enum ExitCode : int {
  kOk = 0,
  kRefused = 1,  // a command other than run did not work
  kUsage = 2,    // the command line is invalid
  kTimedOut = 124,
  kPlatform = 125,  // Hodei itself could not run the job
  kNotInvokable = 126,
  kNotFound = 127,
  kSignalBase = 128,
  kCancelled = 130,
};

bool has_ended(v1::Job::State state);

// Of a job that has ended.
int exit_code_of(const v1::Job& job);

}  // namespace hodei::cli
