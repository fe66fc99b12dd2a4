#include "src/providers/firecracker/machine_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "src/base/status.h"
#include "src/providers/firecracker/fd.h"
#include "src/providers/firecracker/machine.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestWorkerId = 128;
constexpr int64_t kMostLog = 1 << 20;
constexpr size_t kMostMonitorWords = 2000;                            // of a monitor's errors
constexpr int64_t kBootLog = 64 << 10;                                // the worker starts soon, or never
constexpr const char* kStarts = "the worker of this microVM starts";  // as src/worker/guest/guest.cc says it

// From `from` on, counted from the end when negative. Without the carriage returns of a console.
std::string part_of(const std::string& path, int64_t from, int64_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  in.seekg(0, std::ios::end);
  const int64_t size = in.tellg();
  in.seekg(from >= 0 ? from : std::max<int64_t>(0, size + from));
  std::string out(static_cast<size_t>(std::min(most, size)), '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<size_t>(in.gcount()));
  std::erase(out, '\r');
  return out;
}

std::string last_lines(const std::string& text, size_t count) {
  size_t begin = text.size();
  if (begin > 0 && text.back() == '\n') --begin;
  while (count > 0 && begin > 0) {
    const size_t line = text.rfind('\n', begin - 1);
    begin = line == std::string::npos ? 0 : line;
    if (--count == 0 && line != std::string::npos) return text.substr(line + 1);
  }
  return count == 0 && begin != 0 ? std::string() : text.substr(begin);
}

// A process in the jail may have replaced the file: links are not followed, and reading never blocks.
std::string monitor_log(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file.is_open() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string text(static_cast<size_t>(std::min<int64_t>(info.st_size, kBootLog)), '\0');
  const ssize_t got =
      pread(file.get(), text.data(), text.size(), std::max<off_t>(0, info.st_size - static_cast<off_t>(text.size())));
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

// Its errors, all of them, in one line; without one its last word that is no mere goodbye.
std::string monitor_message(const std::string& log) {
  std::string errors, last;
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    if (line.find("exiting successfully") != std::string::npos || line.empty()) continue;
    last = line;
    const bool is_error = line.find("ERROR") != std::string::npos || line.find("rror:") != std::string::npos;
    if (is_error && errors.size() < kMostMonitorWords) errors += cat(errors.empty() ? "" : "; ", line);
  }
  return errors.empty() ? last : errors;
}

std::string log_in_jail(const std::string& folder) {
  std::error_code none;
  for (const auto& program : fs::directory_iterator(folder + "/jail", none)) {
    for (const auto& jail : fs::directory_iterator(program.path(), none)) {
      return cat(jail.path().string(), "/root/", kMonitorLog);
    }
  }
  return {};
}

}  // namespace

std::string last_output(const std::string& folder) {
  const std::string console = last_lines(part_of(console_of(folder), -kBootLog, kBootLog), 1);
  std::string log = monitor_log(cat(folder, "/", kMonitorLog));
  if (log.empty()) log = monitor_log(log_in_jail(folder));
  const std::string monitor = monitor_message(log);
  std::string out = console.empty() ? std::string() : cat("its console ends with: ", console);
  while (out.ends_with('\n')) out.pop_back();
  if (!monitor.empty()) out += cat(out.empty() ? "" : "; ", "firecracker says: ", monitor);
  return out;
}

bool is_worker_id(const std::string& worker) {
  if (worker.empty() || worker.size() > kLongestWorkerId || worker.front() == '-') return false;
  return std::all_of(worker.begin(), worker.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool MachineFiles::has(const std::string& worker) const {
  std::error_code none;
  return is_worker_id(worker) && fs::is_directory(folder_of(worker), none);
}

std::vector<std::string> MachineFiles::workers() const {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename();
    if (is_worker_id(name)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

absl::Status MachineFiles::make(const std::string& worker) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!error && ::mkdir(folder_of(worker).c_str(), 0700) != 0) error.assign(errno, std::generic_category());
  if (error) return absl::UnavailableError(cat("cannot create ", folder_of(worker), ": ", error.message()));
  return absl::OkStatus();
}

absl::Status MachineFiles::remove(const std::string& worker) const {
  std::error_code error;
  fs::remove_all(folder_of(worker), error);
  if (error) return absl::UnavailableError(cat("cannot remove ", folder_of(worker), ": ", error.message()));
  return absl::OkStatus();
}

WorkerStatus MachineFiles::status(const std::string& worker) const {
  const std::string folder = folder_of(worker), console = console_of(folder);
  switch (process_state(record_of(folder))) {
    case ProcessState::NeverStarted:
      return {.phase = WorkerPhase::Ended, .reason = "the server stopped while it was being created"};
    case ProcessState::Running:
      if (part_of(console, 0, kBootLog).find(kStarts) != std::string::npos) return {.phase = WorkerPhase::Running};
      return {.phase = WorkerPhase::Starting, .reason = "its kernel is booting"};
    case ProcessState::Ended: break;
  }
  const std::string last = last_output(folder);
  return {.phase = WorkerPhase::Ended,
          .reason = cat("the machine has ended; ", last.empty() ? "it printed nothing" : last)};
}

std::string MachineFiles::log(const std::string& worker, size_t tail) const {
  return last_lines(part_of(console_of(folder_of(worker)), -kMostLog, kMostLog), tail);
}

}  // namespace hodei::providers::firecracker
