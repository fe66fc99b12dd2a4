#include "src/worker/supervisor/state_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "src/worker/system/fd.h"

namespace hodei::worker {

std::string StateFiles::read(const std::string& name) const {
  const Fd fd(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got = fd.is_open() ? ::read(fd.get(), buffer, sizeof(buffer)) : 0;
  std::string text(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

absl::Status StateFiles::write(const std::string& name, const std::string& text) const {
  const std::string file = path(name);
  const std::string fresh = file + ".new";
  const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      rename(fresh.c_str(), file.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, "writing " + file);
  }
  return absl::OkStatus();
}

std::string StateFiles::read_bytes(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : std::string();
}

absl::Status StateFiles::store_bytes(const std::string& name, const std::string& bytes) const {
  const std::string file = path(name);
  const std::string fresh = file + ".new";
  const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  bool written = fd.is_open();
  for (size_t done = 0; written && done < bytes.size();) {
    const ssize_t wrote = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    written = wrote > 0;
    done += static_cast<size_t>(std::max<ssize_t>(wrote, 0));
  }
  const Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (written && fsync(fd.get()) == 0 && rename(fresh.c_str(), file.c_str()) == 0 && fsync(folder.get()) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "writing " + file);
}

void StateFiles::drop(const std::string& name) const { unlink(path(name).c_str()); }

}  // namespace hodei::worker
