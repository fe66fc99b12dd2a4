#include "src/worker/limits/live_usage.h"

#include <unistd.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/worker/system/process_table.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

void add_io(pid_t pid, LiveUsage& usage) {
  const std::string io = read_file(cat("/proc/", pid, "/io"));
  usage.io_read_bytes += number_after("read_bytes:", io);
  usage.io_write_bytes += number_after("write_bytes:", io);
}

void add_process(pid_t pid, LiveUsage& usage) {
  static const int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
  static const int64_t page_kb = sysconf(_SC_PAGESIZE) / 1024;
  const std::optional<ProcessState> state = state_of(pid);
  if (!state || state->zombie) return;
  usage.cpu_ms += state->cpu_ticks * 1000 / ticks_per_second;
  usage.memory_kb += state->memory_pages * page_kb;
  add_io(pid, usage);
}

LiveUsage from_meter(const RunningTree& tree) {
  const Measured measured = tree.meter->read();
  LiveUsage usage{.execution = tree.execution,
                  .cpu_ms = measured.usage.cpu_ms,
                  .memory_kb = measured.memory_now_kb,
                  .io_read_bytes = measured.usage.io_read_bytes,
                  .io_write_bytes = measured.usage.io_write_bytes};
  if (measured.counts_io) return usage;
  for (const pid_t pid : pids_listed_in(tree.cgroup + "/cgroup.procs")) add_io(pid, usage);
  return usage;
}

}  // namespace

int64_t peak_memory_kb(const RunningTree& tree) {
  std::vector<pid_t> pids = {tree.main};
  if (!tree.cgroup.empty()) {
    pids = pids_listed_in(tree.cgroup + "/cgroup.procs");
  } else {
    for (const pid_t child : pids_listed_in(cat("/proc/", tree.main, "/task/", tree.main, "/children"))) {
      pids.push_back(child);
    }
  }
  int64_t most = 0;
  for (const pid_t pid : pids) most = std::max(most, number_after("VmHWM:", read_file(cat("/proc/", pid, "/status"))));
  return most;
}

std::vector<LiveUsage> read_live_usage(const std::vector<RunningTree>& trees) {
  std::vector<LiveUsage> out;
  std::map<pid_t, ProcessState> table;  // read once, and only if a tree needs it
  for (const RunningTree& tree : trees) {
    if (tree.meter) {
      out.push_back(from_meter(tree));
      continue;
    }
    LiveUsage usage{.execution = tree.execution};
    if (!tree.cgroup.empty()) {
      for (const pid_t pid : pids_listed_in(tree.cgroup + "/cgroup.procs")) add_process(pid, usage);
    } else {
      if (table.empty()) table = all_processes();
      for (const pid_t pid : with_descendants({tree.main}, table)) add_process(pid, usage);
    }
    out.push_back(usage);
  }
  return out;
}

}  // namespace hodei::worker
