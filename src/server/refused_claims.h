// How often workers said something about what they were not given. Counted in one place, for the metrics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace hodei::server {

enum class Claim : uint8_t {
  Session,      // a call with a session that nobody has
  Log,          // output of another worker's execution
  LogAfterEnd,  // output behind the end of a log
  Report,       // a start, progress or result of an execution that is not the worker's current one
  Usage,        // usage of another worker's execution
  Artifact,     // a file for an execution that is not the worker's, or that its job does not name
  Worker,       // an act on another worker
  Input,        // the standard input of another worker's execution
};
inline constexpr std::string_view kClaimNames[] = {"session", "log",      "log_after_end", "report",
                                                   "usage",   "artifact", "worker",        "input"};
inline constexpr size_t kClaims = std::size(kClaimNames);

class RefusedClaims {
 public:
  void count(Claim claim, int64_t times = 1) { counts_[static_cast<size_t>(claim)] += times; }
  std::array<int64_t, kClaims> counts() const {
    std::array<int64_t, kClaims> out{};
    for (size_t i = 0; i < kClaims; ++i) out[i] = counts_[i];
    return out;
  }

 private:
  std::array<std::atomic<int64_t>, kClaims> counts_{};
};

}  // namespace hodei::server
