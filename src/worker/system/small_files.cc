#include "src/worker/system/small_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace hodei::worker {
namespace {

std::optional<int64_t> leading_number(std::string_view text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

bool write_file(const std::string& path, std::string_view text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd.is_open() && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string read_file(const std::string& path) {
  std::string text;
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[8192];
  for (ssize_t got = 1; fd.is_open() && (got = read(fd.get(), buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

KernelFile::KernelFile(const std::string& path, int flags)
    : fd_(path.empty() ? -1 : open(path.c_str(), flags | O_CLOEXEC)) {}

std::string KernelFile::text() const {
  std::string out;
  char buffer[4096];
  for (ssize_t got = 1;
       fd_.is_open() && (got = pread(fd_.get(), buffer, sizeof(buffer), static_cast<off_t>(out.size()))) > 0;) {
    out.append(buffer, static_cast<size_t>(got));
  }
  return out;
}

std::optional<int64_t> KernelFile::number() const {
  char text[32];
  const ssize_t got = fd_.is_open() ? pread(fd_.get(), text, sizeof(text), 0) : 0;
  return got > 0 ? leading_number({text, static_cast<size_t>(got)}) : std::nullopt;
}

bool KernelFile::write(std::string_view text) const {
  return fd_.is_open() && pwrite(fd_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

std::optional<int64_t> number_in(const std::string& path) { return leading_number(read_file(path)); }

int64_t number_after(std::string_view word, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(word)) continue;
    const std::string_view rest = line.substr(word.size());
    if (!rest.starts_with(' ') && !word.ends_with(':')) continue;
    return leading_number(rest).value_or(0);
  }
  return 0;
}

std::vector<pid_t> pids_listed(std::string_view text) {
  std::vector<pid_t> pids;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(at, end, pid);
    if (parsed.ec != std::errc()) break;
    if (pid > 0) pids.push_back(pid);  // 0: a process of another pid namespace
    at = parsed.ptr + 1;
  }
  return pids;
}

std::vector<pid_t> pids_listed_in(const std::string& path) { return pids_listed(read_file(path)); }

}  // namespace hodei::worker
