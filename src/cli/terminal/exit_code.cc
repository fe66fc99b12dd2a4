#include "src/cli/terminal/exit_code.h"

#include <string_view>

namespace hodei::cli {
namespace {

struct FailureCode {
  std::string_view failure;
  int code;
};
constexpr FailureCode kFailureCodes[] = {{"command_not_found", kNotFound},
                                         {"permission_denied", kNotInvokable},
                                         {"spawn_failed", kNotInvokable},
                                         {"worker_lost", kPlatform}};

int code_of_failure(const v1::Job& job) {
  for (const FailureCode& known : kFailureCodes) {
    if (job.failure() == known.failure) return known.code;
  }
  if (job.signal() > 0) return kSignalBase + job.signal();
  // It was reported with FailJob, without an exit code.
  if (job.failure() == "reported" && job.exit_code() == 0) return 1;
  // A failed job without a code of its own (it could not be placed) failed on our side.
  return job.has_exit_code() && job.exit_code() != 0 ? job.exit_code() & 0xff : kPlatform;
}

}  // namespace

bool has_ended(v1::Job::State state) {
  return state == v1::Job::Succeeded || state == v1::Job::Failed || state == v1::Job::Cancelled ||
         state == v1::Job::Timeout;
}

int exit_code_of(const v1::Job& job) {
  switch (job.state()) {
    case v1::Job::Succeeded: return kOk;
    case v1::Job::Cancelled: return kCancelled;
    case v1::Job::Timeout: return kTimedOut;
    case v1::Job::Failed: return code_of_failure(job);
    default: return kPlatform;
  }
}

}  // namespace hodei::cli
