#include "src/base/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace hodei {
namespace {

// Seconds since 1970 at which the machine started.
double boot_seconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  while (stat >> word) {
    double value = 0;
    if (word == "btime" && stat >> value) return value;
  }
  return 0;
}

void read_stat(ProcessFigures& out) {
  std::ifstream file("/proc/self/stat");
  std::string line(std::istreambuf_iterator<char>(file), {});
  // The name may hold anything; what follows its closing bracket does not.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0, started = 0;
  fields >> user >> system;
  for (int i = 0; i < 6; ++i) fields >> skipped;
  int64_t pages = 0;
  fields >> started >> out.virtual_bytes >> pages;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  out.cpu_seconds = (user + system) / ticks;
  out.start_seconds = boot_seconds() + started / ticks;
  out.resident_bytes = pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

ProcessFigures read_process_figures() {
  ProcessFigures out;
  read_stat(out);
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (!error) out.open_fds = std::distance(begin(fds), end(fds));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) out.max_fds = static_cast<int64_t>(limit.rlim_cur);
  return out;
}

}  // namespace hodei
