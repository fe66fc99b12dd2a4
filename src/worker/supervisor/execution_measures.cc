#include "src/worker/supervisor/execution_measures.h"

#include <algorithm>

#include "src/base/counted.h"
#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kOutputBlock = 512;  // of rusage

std::string no_memory_left(int64_t kills) {
  return cat("the memory limit of its worker was reached; the kernel killed ", kills, " of the job's processes");
}

int64_t milliseconds(const timeval& t) { return int64_t{t.tv_sec} * 1000 + t.tv_usec / 1000; }

}  // namespace

void ExecutionMeasures::begin(Running& running, SpawnOrder& order) {
  const ProgramLimits& limits = running.limits = order.program.limits;
  running.oom_kills_before = oom_kills_in(parts_.cgroup);
  if (limits == ProgramLimits()) return;
  if (parts_.groups == nullptr || !parts_.groups->limits_memory()) order.data_limit = limits.memory_bytes;
  running.usage.message = not_enforced(limits, parts_.enclosures, parts_.groups, parts_.own);
  if (limits.disk_bytes == 0) return;
  const std::string& folder = order.program.folder.empty() ? running.place->folder->path() : order.program.folder;
  parts_.watch.guard(running.execution, folder, limits.disk_bytes);
}

void ExecutionMeasures::started(const Running& running) {
  if (running.place->group) return;
  parts_.watch.follow({.execution = running.execution,
                       .main = running.pid,
                       .cgroup = running.place->enclosure->cgroup(),
                       .meter = nullptr});
}

void ExecutionMeasures::main_ended(Running& running, const rusage& usage) {
  const int64_t seen_kb = running.place->group ? 0 : parts_.watch.unfollow(running.execution);
  running.usage.facts.usage = {.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
                               .max_memory_kb = std::max(own_memory_kb(usage), seen_kb),
                               .io_read_bytes = usage.ru_inblock * kOutputBlock,
                               .io_write_bytes = usage.ru_oublock * kOutputBlock};
}

// The kernel charges a new program with the memory of the process that started it: up to what the supervisor itself has
// had, the figure says nothing about the job. 0: not known.
int64_t ExecutionMeasures::own_memory_kb(const rusage& usage) {
  if (usage.ru_maxrss > supervisor_peak_kb_) {
    supervisor_peak_kb_ = number_after("VmHWM:", read_file("/proc/self/status"));
  }
  return usage.ru_maxrss > supervisor_peak_kb_ ? usage.ru_maxrss : 0;
}

void ExecutionMeasures::end(Running& running, bool alone) {
  give_up(running);
  if (!running.place->group) return note_own_oom(running, alone);
  const Measured measured = running.place->group->meter()->read();
  Usage& usage = running.usage.facts.usage;
  if (measured.usage.cpu_ms > 0) usage.cpu_ms = measured.usage.cpu_ms;
  if (measured.usage.max_memory_kb > 0) usage.max_memory_kb = measured.usage.max_memory_kb;
  // The group does not see what the kernel writes later; the process does not see what its orphans did.
  usage.io_read_bytes = std::max(usage.io_read_bytes, measured.usage.io_read_bytes);
  usage.io_write_bytes = std::max(usage.io_write_bytes, measured.usage.io_write_bytes);
  if (measured.oom_kills == 0) return note_own_oom(running, alone);
  running.usage.failure = "oom";
  if (running.limits.memory_bytes == 0) {
    running.usage.message = no_memory_left(measured.oom_kills);
    return;
  }
  running.usage.message = cat("used more memory than its limit of ", size_text(running.limits.memory_bytes),
                              " (resources.memory_mb); the kernel killed ", counted(measured.oom_kills, "process"));
}

// Without a group of its own the job lives in the cgroup of the worker. One that runs alone there is the one that was
// hit, also when its main process did not notice.
void ExecutionMeasures::note_own_oom(Running& running, bool alone) {
  const int64_t kills = oom_kills_in(parts_.cgroup) - running.oom_kills_before;
  if (kills <= 0 || !alone) return;
  running.usage.failure = "oom";
  running.usage.message = no_memory_left(kills);
}

void ExecutionMeasures::give_up(const Running& running) {
  if (running.limits.disk_bytes > 0) parts_.watch.unguard(running.execution);
}

bool ExecutionMeasures::over_quota(Running& running, const ExecutionWatch::OverQuota& over) {
  if (running.pid == 0 || running.main_gone) return false;
  running.usage.failure = "disk_quota";
  // Rounded up: it is above the limit, and is to look like it.
  const auto [grown, most] = megabytes_apart((over.bytes + kMegabyte - 1) / kMegabyte, over.most_bytes / kMegabyte);
  running.usage.message =
      cat("its working folder grew to ", grown, ", above the limit of ", most, " (resources.storage_mb)");
  return true;
}

}  // namespace hodei::worker
