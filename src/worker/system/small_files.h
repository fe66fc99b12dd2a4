// Reads and writes the small files of the kernel: those of cgroups and of /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/worker/system/fd.h"

namespace hodei::worker {

bool write_file(const std::string& path, std::string_view text);  // false: errno says why
std::string read_file(const std::string& path);                   // empty: nothing there, or not for us

// One that is read again and again, always from its beginning. An empty path, or one that is not there: empty.
class KernelFile {
 public:
  KernelFile(const std::string& path, int flags);
  std::string text() const;
  std::optional<int64_t> number() const;
  bool write(std::string_view text) const;
  bool is_open() const { return fd_.is_open(); }

 private:
  Fd fd_;
};

// The number that the file is; none: it has none.
std::optional<int64_t> number_in(const std::string& path);
// The number behind a word at the beginning of a line, as in "oom_kill 3"; 0: there is none.
int64_t number_after(std::string_view word, std::string_view text);
// All numbers of a text, or of a file, that holds nothing else, such as cgroup.procs.
std::vector<pid_t> pids_listed(std::string_view text);
std::vector<pid_t> pids_listed_in(const std::string& path);

}  // namespace hodei::worker
