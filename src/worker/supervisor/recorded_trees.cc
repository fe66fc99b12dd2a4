// Ends what the ledger of an earlier supervisor names.
//
// The kernel gives a number to a new process only when no process, group and session has it. So while one process is in
// a session that we know of since an earlier time, everything in that session belongs to the job.
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/worker/supervisor/execution_ledger.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker {
namespace {

constexpr int kMostEndRounds = 500;
// A start whose end nobody has noted: it was under way when the supervisor was killed.
constexpr int64_t kMostTicksOfAStart = 1000;

using ProcessMap = std::map<pid_t, ProcessState>;

bool holds_pipe(pid_t pid, const std::set<std::string>& pipes) {
  const std::string folder = cat("/proc/", pid, "/fd");
  DIR* fds = opendir(folder.c_str());
  if (fds == nullptr) return false;
  bool found = false;
  while (const dirent* entry = found ? nullptr : readdir(fds)) {
    char target[64];
    const ssize_t size = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target));
    found = size > 0 && pipes.contains(std::string(target, static_cast<size_t>(size)));
  }
  closedir(fds);
  return found;
}

// Those that have the other end of a pipe which only the job was given.
std::set<pid_t> holders(const Leftover& left, const ProcessMap& all) {
  std::set<std::string> pipes;
  for (const uint64_t number : {left.out, left.err}) {
    if (number != 0) pipes.insert(cat("pipe:[", number, "]"));
  }
  std::set<pid_t> found;
  for (const auto& [pid, process] : all) {
    if (!process.zombie && !process.kernel_thread && pid != getpid() && holds_pipe(pid, pipes)) found.insert(pid);
  }
  return found;
}

struct MetProcesses {
  std::set<pid_t> members;
  bool unclear = false;
};

MetProcesses processes_of(const Leftover& left, int64_t last_sign, const ProcessMap& all) {
  MetProcesses met{.members = holders(left, all)};
  const auto main = all.find(left.main);
  const int64_t not_after = left.not_after != 0 ? left.not_after : left.not_before + kMostTicksOfAStart;
  const auto started = [](const ProcessState& process) { return static_cast<int64_t>(process.started); };
  bool is_same = false;
  if (main != all.end()) {
    is_same = started(main->second) >= left.not_before && started(main->second) <= not_after;
    if (!is_same) return met;  // the number is another's now
  }
  std::set<pid_t> session;
  for (const auto& [pid, process] : all) {
    if (process.session != left.main && process.group != left.main) continue;
    // It was there while the supervisor was, or is known by its pipe: then the number was never free.
    is_same |= started(process) <= last_sign || met.members.contains(pid);
    if (!process.zombie) session.insert(pid);
  }
  if (is_same) {
    met.members.merge(session);
  } else {
    met.unclear = !session.empty();
  }
  return met;
}

}  // namespace

LeftoversKilled kill_recorded(const Leftovers& leftovers) {
  LeftoversKilled killed;
  std::set<pid_t> met;
  for (int round = 0; round < kMostEndRounds && !leftovers.executions.empty(); ++round) {
    const ProcessMap all = all_processes();
    std::set<pid_t> now;
    killed.unclear = false;
    for (const Leftover& left : leftovers.executions) {
      MetProcesses here = processes_of(left, leftovers.last_sign, all);
      now.merge(here.members);
      killed.unclear |= here.unclear;
    }
    now = with_descendants(std::move(now), all);
    now.erase(getpid());
    if (now.empty()) break;
    for (const pid_t pid : now) ::kill(pid, SIGKILL);
    met.insert(now.begin(), now.end());
    if (round + 1 == kMostEndRounds) killed.unclear = true;  // they do not die
    pause_for(round < 10 ? 1ms : 10ms);
  }
  killed.processes = static_cast<int>(met.size());
  return killed;
}

}  // namespace hodei::worker
