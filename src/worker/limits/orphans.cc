#include "src/worker/limits/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker {
namespace {

// How often the list is read again because it changed meanwhile.
constexpr int kMostReads = 4;
constexpr int kMostKillRounds = 500;

std::set<pid_t> pids_in(const std::string& text) {
  const std::vector<pid_t> pids = pids_listed(text);
  return {pids.begin(), pids.end()};
}

// Of all its threads.
std::set<pid_t> children_of(pid_t pid) {
  std::set<pid_t> found;
  std::error_code gone;
  for (std::filesystem::directory_iterator it(cat("/proc/", pid, "/task"), gone), end; !gone && it != end;
       it.increment(gone)) {
    found.merge(pids_in(read_file(it->path() / "children")));
  }
  return found;
}

}  // namespace

// The kernel gives orphans to the first thread of a subreaper. Jobs are started by other threads and are not in this
// list.
Orphans::Orphans()
    : children_(cat("/proc/self/task/", getpid(), "/children"), O_RDONLY), can_look_(children_.is_open()) {
  for (const pid_t pid : children().value_or(std::set<pid_t>())) {
    const std::optional<ProcessState> state = state_of(pid);
    if (!state || state->zombie) continue;
    strangers_.insert({pid, state->started});
    stranger_sessions_.insert(state->session);
  }
  note_strangers();
}

// Few, if any: a script that starts the worker may have started something beside it.
void Orphans::note_strangers() {
  std::vector<Process> to_do(strangers_.begin(), strangers_.end());
  while (!to_do.empty()) {
    const Process each = to_do.back();
    to_do.pop_back();
    const std::optional<ProcessState> now = state_of(each.pid);
    if (!now || now->started != each.started) {
      strangers_.erase(each);
      continue;
    }
    for (const pid_t pid : children_of(each.pid)) {
      const std::optional<ProcessState> state = state_of(pid);
      if (!state || state->zombie || !strangers_.insert({pid, state->started}).second) continue;
      stranger_sessions_.insert(state->session);
      to_do.push_back({pid, state->started});
    }
  }
}

// The list may skip some while others end: it counts when it is the same twice.
std::optional<std::set<pid_t>> Orphans::children() const {
  std::set<pid_t> before = pids_in(children_.text());
  for (int i = 0; i < kMostReads; ++i) {
    std::set<pid_t> after = pids_in(children_.text());
    if (after == before) return after;
    before = std::move(after);
  }
  return std::nullopt;
}

bool Orphans::look() {
  ++looks_;
  if (!can_look_) return true;
  note_strangers();
  const std::optional<std::set<pid_t>> all = children();
  if (!all) return false;
  std::map<Process, uint64_t> found;
  for (const pid_t pid : *all) {
    if (expected_.contains(pid)) continue;
    const std::optional<ProcessState> state = state_of(pid);
    if (!state || state->zombie) continue;
    const Process process{pid, state->started};
    if (strangers_.contains(process) || stranger_sessions_.contains(state->session)) continue;
    const auto known = living_.find(process);
    found[process] = known == living_.end() ? looks_ : known->second;
  }
  living_ = std::move(found);
  return true;
}

void Orphans::kill() {
  look();
  // They are children that nobody but us reaps: the numbers cannot have become another's.
  for (const auto& [process, since] : living_) ::kill(process.pid, SIGKILL);
}

bool Orphans::any_since(uint64_t earlier) {
  if (!look()) return true;
  for (const auto& [process, since] : living_) {
    if (since > earlier) return true;
  }
  return false;
}

std::shared_ptr<Orphans> orphans_of(const EnclosureOptions& options) {
  return options.orphans ? options.orphans : std::make_shared<Orphans>();
}

int kill_descendants(pid_t root, pid_t spared) {
  std::set<pid_t> met;
  for (int round = 0; round < kMostKillRounds; ++round) {
    const std::map<pid_t, ProcessState> all = all_processes();
    std::set<pid_t> now = with_descendants({root}, all);
    for (const pid_t pid : with_descendants({spared}, all)) now.erase(pid);
    now.erase(root);
    if (now.empty()) break;
    for (const pid_t pid : now) ::kill(pid, SIGKILL);
    met.insert(now.begin(), now.end());
    pause_for(round < 10 ? 1ms : 10ms);
  }
  return static_cast<int>(met.size());
}

}  // namespace hodei::worker
