#include "src/worker/limits/own_limits.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "src/base/text.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr int64_t kNoLimitV1 = int64_t{1} << 60;  // version 1 writes a number near 2^63 for "none"

void take_smaller(int64_t& limit, int64_t other) {
  if (other > 0) limit = limit == 0 ? other : std::min(limit, other);
}

// The folder itself and those above it, up to the root: the smallest limit of all counts. In a container the name may
// be the one that the host knows; then only the root is there.
std::vector<std::string> folders_of(const std::string& root, std::string path) {
  std::vector<std::string> out;
  while (!path.empty() && path != "/") {
    out.push_back(root + path);
    path.erase(path.rfind('/'));
  }
  out.push_back(root);
  return out;
}

int64_t milli_of(int64_t quota, int64_t period) { return quota > 0 && period > 0 ? quota * 1000 / period : 0; }

void add_v2(const std::string& root, const std::string& path, OwnLimits& out) {
  for (const std::string& folder : folders_of(root, path)) {
    std::istringstream cpu(read_file(folder + "/cpu.max"));
    int64_t quota = 0, period = 0;
    if (cpu >> quota >> period) take_smaller(out.cpu_milli, milli_of(quota, period));
    take_smaller(out.memory_bytes, number_in(folder + "/memory.max").value_or(0));
    const std::string events = folder + "/memory.events";
    if (out.oom_file.empty() && access(events.c_str(), R_OK) == 0) out.oom_file = events;
  }
}

void add_cpu_v1(const std::string& root, const std::string& path, OwnLimits& out) {
  for (const std::string& folder : folders_of(root, path)) {
    const int64_t quota = number_in(folder + "/cpu.cfs_quota_us").value_or(0);
    take_smaller(out.cpu_milli, milli_of(quota, number_in(folder + "/cpu.cfs_period_us").value_or(0)));
  }
}

void add_memory_v1(const std::string& root, const std::string& path, OwnLimits& out) {
  for (const std::string& folder : folders_of(root, path)) {
    const int64_t limit = number_in(folder + "/memory.limit_in_bytes").value_or(0);
    if (limit < kNoLimitV1) take_smaller(out.memory_bytes, limit);
    const std::string control = folder + "/memory.oom_control";
    if (out.oom_file.empty() && access(control.c_str(), R_OK) == 0) out.oom_file = control;
  }
}

bool has_word(const std::string& list, std::string_view word) {
  return cat(",", list, ",").find(cat(",", word, ",")) != std::string::npos;
}

}  // namespace

OwnLimits read_own_limits(const std::string& root, const std::string& self) {
  OwnLimits out;
  std::istringstream lines(read_file(self));
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/a/b", in version 2 "0::/a/b"
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) add_v2(root, path, out);
    if (has_word(controllers, "cpu")) add_cpu_v1(root + "/cpu", path, out);
    if (has_word(controllers, "memory")) add_memory_v1(root + "/memory", path, out);
  }
  return out;
}

int64_t oom_kills_in(const OwnLimits& own) {
  return own.oom_file.empty() ? 0 : number_after("oom_kill", read_file(own.oom_file));
}

}  // namespace hodei::worker
