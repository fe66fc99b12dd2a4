// Where executions live, and the limits they live under: places are taken and given back, figures read at the end.
#include <algorithm>

#include "src/base/counted.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/worker/execution_host.h"
#include "src/worker/journal.h"

namespace hodei::worker {
namespace {

constexpr size_t kMaxFreePlaces = 256;
constexpr int64_t kMegabyte = 1 << 20;

std::string no_memory_left(int64_t kills) {
  return cat("the memory limit of its worker was reached; the kernel killed ", kills, " of the job's processes");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Place>> ExecutionHost::take_place(bool with_group) {
  ASSIGN_OR_RETURN(std::unique_ptr<Place> place, free_or_new_place(with_group));
  if (parts_.ledger != nullptr) place->record = parts_.ledger->take();
  return place;
}

absl::StatusOr<std::unique_ptr<Place>> ExecutionHost::free_or_new_place(bool with_group) {
  std::vector<std::unique_ptr<Place>>& free = with_group ? limited_places_ : places_;
  if (!free.empty()) {
    // The newest is warm; but of those with limits the one that rested longest: cpu time that the last execution used
    // up would be missing in this one until the kernel's period ends.
    const auto taken = with_group ? free.begin() : free.end() - 1;
    std::unique_ptr<Place> place = std::move(*taken);
    free.erase(taken);
    return place;
  }
  auto place = std::make_unique<Place>();
  ASSIGN_OR_RETURN(place->enclosure, parts_.enclosures.make());
  ASSIGN_OR_RETURN(place->folder, parts_.folders.next());
  if (with_group) place->group = parts_.groups->make(*place->enclosure);
  return place;
}

void ExecutionHost::give_back(std::unique_ptr<Place> place) {
  if (parts_.ledger != nullptr) parts_.ledger->give_back(std::exchange(place->record, nullptr));
  if (place->enclosure->is_spent() || (place->group && place->group->is_spent())) {
    const bool with_group = place->group != nullptr;
    place->group.reset();
    auto fresh = parts_.enclosures.make();
    if (!fresh.ok()) return say("cannot clean up after an execution: ", std::string(fresh.status().message()));
    place->enclosure = std::move(*fresh);
    if (with_group) place->group = parts_.groups->make(*place->enclosure);
  }
  if (!place->folder->is_untouched()) return parts_.spawns.clean(std::move(place));
  keep_free(std::move(place));
}

void ExecutionHost::keep_free(std::unique_ptr<Place> place) {
  std::vector<std::unique_ptr<Place>>& free = place->group ? limited_places_ : places_;
  if (free.size() < kMaxFreePlaces) free.push_back(std::move(place));
}

void ExecutionHost::note_limits(Running& running, SpawnOrder& order) {
  const ProgramLimits& limits = running.limits = order.program.limits;
  running.oom_kills_before = oom_kills_in(parts_.cgroup);
  if (limits == ProgramLimits()) return;
  if (parts_.groups == nullptr || !parts_.groups->limits_memory()) order.data_limit = limits.memory_bytes;
  running.usage.message = not_enforced(limits, parts_.enclosures, parts_.groups, parts_.own);
  if (limits.disk_bytes == 0) return;
  const std::string& folder = order.program.folder.empty() ? running.place->folder->path() : order.program.folder;
  parts_.watch.guard(running.execution, folder, limits.disk_bytes);
}

// The tree is gone: what its group counted is what it used.
void ExecutionHost::take_measure(Running& running) {
  if (running.limits.disk_bytes > 0) parts_.watch.unguard(running.execution);
  if (!running.place->group) return note_own_oom(running);
  const Measured measured = running.place->group->meter()->read();
  Usage& usage = running.usage.facts.usage;
  if (measured.usage.cpu_ms > 0) usage.cpu_ms = measured.usage.cpu_ms;
  if (measured.usage.max_memory_kb > 0) usage.max_memory_kb = measured.usage.max_memory_kb;
  // The group does not see what the kernel writes later; the process does not see what its orphans did.
  usage.io_read_bytes = std::max(usage.io_read_bytes, measured.usage.io_read_bytes);
  usage.io_write_bytes = std::max(usage.io_write_bytes, measured.usage.io_write_bytes);
  if (measured.oom_kills == 0) return note_own_oom(running);
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
void ExecutionHost::note_own_oom(Running& running) {
  const int64_t kills = oom_kills_in(parts_.cgroup) - running.oom_kills_before;
  if (kills <= 0 || running_.size() != 1) return;
  running.usage.failure = "oom";
  running.usage.message = no_memory_left(kills);
}

void ExecutionHost::over_quota(const ExecutionWatch::OverQuota& over) {
  Running* running = find(over.execution);
  if (running == nullptr || running->pid == 0 || running->main_gone) return;
  running->usage.failure = "disk_quota";
  // Rounded up: it is above the limit, and is to look like it.
  const auto [grown, most] = megabytes_apart((over.bytes + kMegabyte - 1) / kMegabyte, over.most_bytes / kMegabyte);
  running->usage.message =
      cat("its working folder grew to ", grown, ", above the limit of ", most, " (resources.storage_mb)");
  running->place->enclosure->kill();
}

std::vector<RunningTree> ExecutionHost::running_trees() const {
  std::vector<RunningTree> trees;
  for (const auto& [execution, running] : running_) {
    if (running->pid == 0 || running->main_gone) continue;
    const Place& place = *running->place;
    trees.push_back({.execution = execution,
                     .main = running->pid,
                     .cgroup = place.enclosure->cgroup(),
                     .meter = place.group ? place.group->meter() : nullptr});
  }
  return trees;
}

}  // namespace hodei::worker
