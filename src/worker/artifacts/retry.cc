#include "src/worker/artifacts/retry.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "src/base/time.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr Duration kFirstPause = 500ms;
constexpr Duration kLongestPause = 8s;
constexpr int kMostAttempts = 100;  // however well it goes on each time

// False: it was stopped meanwhile.
bool pause(const std::stop_token& stop, Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

absl::Status with_retries(const std::stop_token& stop, const std::function<absl::Status()>& attempt,
                          const std::function<int64_t()>& progress, int attempts_in_a_row) {
  int failures = 0;
  int64_t furthest = progress();
  for (int attempts = 1;; ++attempts) {
    const absl::Status result = attempt();
    if (!absl::IsUnavailable(result) && !absl::IsDeadlineExceeded(result)) return result;
    failures = progress() > furthest ? 1 : failures + 1;
    furthest = std::max(furthest, progress());
    if (failures >= attempts_in_a_row || attempts >= kMostAttempts) return result;
    say("trying again: ", std::string(result.message()));
    if (!pause(stop, std::min(kFirstPause * (1 << std::min(failures - 1, 4)), kLongestPause))) {
      return absl::CancelledError("stopped");
    }
  }
}

}  // namespace hodei::worker
