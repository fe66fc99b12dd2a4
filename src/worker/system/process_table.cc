#include "src/worker/system/process_table.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>

#include "src/base/text.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD

// Fields of /proc/<pid>/stat behind the name, counted as proc(5) does.
constexpr int kFirstField = 3;
constexpr int kLastField = 51;
constexpr uint64_t kNotForUs = 1;  // stands for addresses that the reader may not see

}  // namespace

std::optional<ProcessState> state_of(pid_t pid) {
  const std::string stat = read_file(cat("/proc/", pid, "/stat"));
  const size_t after_name = stat.rfind(')');  // the name itself may hold anything
  if (after_name == std::string::npos || after_name + 4 >= stat.size()) return std::nullopt;
  const char letter = stat[after_name + 2];
  ProcessState state{.zombie = letter == 'Z' || letter == 'X'};
  uint64_t code = 0, environment = 0;
  const char* at = stat.data() + after_name + 3;
  const char* end = stat.data() + stat.size();
  for (int field = kFirstField + 1; field <= kLastField && at < end; ++field) {
    uint64_t value = 0;
    bool negative = ++at < end && *at == '-';
    at = std::from_chars(at + negative, end, value).ptr;
    switch (field) {
      case 4: state.parent = static_cast<pid_t>(value); break;
      case 5: state.group = static_cast<pid_t>(value); break;
      case 6: state.session = static_cast<pid_t>(value); break;
      case 9: state.kernel_thread = (value & kKernelThread) != 0; break;
      case 14:
      case 15:
      case 16:
      case 17: state.cpu_ticks += static_cast<int64_t>(value); break;
      case 22: state.started = value; break;
      case 24: state.memory_pages = static_cast<int64_t>(value); break;
      case 26: code = value; break;  // where its code starts
      case 50:
        environment = value;
        break;  // where its environment starts
      // And ends. The kernel lays out a new program's environment from nothing, and tells of its code only after that.
      case kLastField:
        state.no_environment = code == kNotForUs || (code != 0 && value != 0 && value == environment);
        break;
      default: break;
    }
  }
  return state;
}

std::map<pid_t, ProcessState> all_processes() {
  std::map<pid_t, ProcessState> all;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return all;
  while (const dirent* entry = readdir(proc)) {
    pid_t pid = 0;
    const std::string_view name = entry->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    if (const std::optional<ProcessState> state = state_of(pid)) all[pid] = *state;
  }
  closedir(proc);
  return all;
}

std::set<pid_t> with_descendants(std::set<pid_t> found, const std::map<pid_t, ProcessState>& all) {
  for (bool grew = !found.empty(); grew;) {
    grew = false;
    for (const auto& [pid, process] : all) {
      if (!process.zombie && found.contains(process.parent)) grew = found.insert(pid).second || grew;
    }
  }
  return found;
}

Carries carries(pid_t pid, const std::string& pair) {
  const std::string environ = '\0' + read_file(cat("/proc/", pid, "/environ"));
  if (environ.find('\0' + pair + '\0') != std::string::npos) return Carries::Yes;
  if (environ.size() > 1) return Carries::No;
  // Nothing to read. Between two programs, while it ends, and if it has become one since, that means nothing.
  const std::optional<ProcessState> state = state_of(pid);
  const bool means_nothing = state && !state->zombie && !state->kernel_thread && !state->no_environment;
  return means_nothing ? Carries::Unclear : Carries::No;
}

}  // namespace hodei::worker
