#include "src/providers/process/worker_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/providers/foreign_text.h"

namespace hodei::providers {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostReadOfALog = 1 << 20;  // that are read of a log's end

}  // namespace

bool WorkerFolder::exists() const {
  std::error_code failed;
  return fs::is_directory(path_, failed);
}

absl::Status WorkerFolder::make() const {
  std::error_code failed;
  fs::create_directories(fs::path(path_).parent_path(), failed);
  if (failed) return absl::InternalError(cat("cannot create the folder for ", path_, ": ", failed.message()));
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
    return absl::ErrnoToStatus(errno, cat("cannot create ", path_));
  return absl::OkStatus();
}

absl::Status WorkerFolder::remove() const {
  // Jobs of this worker filled its working folders.
  const absl::Status removed = remove_tree(path_);
  return removed.ok() ? removed
                      : absl::InternalError(cat("cannot remove ", path_, ": ", std::string(removed.message())));
}

WorkerRecord WorkerFolder::read() const {
  WorkerRecord record;
  std::ifstream in(path_ + "/record");
  for (std::string line; std::getline(in, line);) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, space);
    const std::string value = line.substr(std::min(space + 1, line.size()));
    if (name == "boot") record.boot = value;
    if (name == "pid") record.process.pid = static_cast<pid_t>(std::strtol(value.c_str(), nullptr, 10));
    if (name == "started") record.process.started = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "ended") record.ended = value;
  }
  return record;
}

absl::Status WorkerFolder::write(const WorkerRecord& record) const {
  std::string text = cat("boot ", record.boot, "\n");
  if (record.process.pid > 0) text += cat("pid ", record.process.pid, "\nstarted ", record.process.started, "\n");
  if (!record.ended.empty()) text += cat("ended ", record.ended, "\n");
  const std::string path = path_ + "/record";
  const std::string fresh = path + ".new";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  if (fd >= 0) close(fd);
  if (!written) return absl::ErrnoToStatus(why, cat("cannot write ", fresh));
  if (rename(fresh.c_str(), path.c_str()) != 0) return absl::ErrnoToStatus(errno, cat("cannot write ", path));
  return absl::OkStatus();
}

std::string WorkerFolder::mark() const {
  std::ifstream in(state() + "/mark");
  std::string mark;
  in >> mark;
  return mark;
}

absl::StatusOr<std::string> WorkerFolder::log_tail(size_t lines) const {
  std::ifstream in(log(), std::ios::binary | std::ios::ate);
  if (!in) return std::string();
  const int64_t size = in.tellg();
  const int64_t from = std::max<int64_t>(0, size - kMostReadOfALog);
  in.seekg(from);
  std::string text(static_cast<size_t>(size - from), '\0');
  in.read(text.data(), size - from);
  text.resize(static_cast<size_t>(in.gcount()));
  size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  for (size_t line = 0; line < lines; ++line) {
    const size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    if (before == std::string::npos) return as_utf8(std::move(text));
    at = before;
  }
  return lines == 0 ? std::string() : as_utf8(text.substr(at + 1));
}

}  // namespace hodei::providers
