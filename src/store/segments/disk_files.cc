#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "src/base/status.h"
#include "src/store/segments/files.h"

namespace hodei::store {
namespace {

// ENOSPC and EDQUOT become RESOURCE_EXHAUSTED, ENOENT NOT_FOUND.
absl::Status failed(std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, cat("cannot ", what, " ", path));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

class DiskAppendFile final : public AppendFile {
 public:
  DiskAppendFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  absl::Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("write", path_);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }
  absl::Status sync() override { return ::fdatasync(fd_.get()) == 0 ? absl::OkStatus() : failed("sync", path_); }
  absl::Status truncate(int64_t size) override {
    return ::ftruncate(fd_.get(), size) == 0 ? absl::OkStatus() : failed("truncate", path_);
  }

 private:
  Descriptor fd_;
  std::string path_;
};

class DiskReadFile final : public ReadFile {
 public:
  DiskReadFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  absl::StatusOr<std::string> read(int64_t offset, size_t size) const override {
    // A damaged file may make its reader ask for more than there is memory.
    struct stat about {};
    if (::fstat(fd_.get(), &about) != 0) return failed("read", path_);
    size = std::min(size, static_cast<size_t>(std::max<int64_t>(about.st_size - offset, 0)));
    std::string out(size, '\0');
    size_t done = 0;
    while (done < size) {
      const ssize_t n = ::pread(fd_.get(), out.data() + done, size - done, offset + static_cast<int64_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("read", path_);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    out.resize(done);
    return out;
  }

 private:
  Descriptor fd_;
  std::string path_;
};

class DiskFiles final : public Files {
 public:
  absl::Status make_folder(const std::string& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error) return absl::OkStatus();
    errno = error.value();
    return failed("create folder", folder);
  }

  absl::Status sync_folder(const std::string& folder) override {
    const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) return failed("sync folder", folder);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<FileEntry>> list(const std::string& folder) override {
    std::vector<FileEntry> out;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      struct stat about {};
      if (::stat(it->path().c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
      out.push_back({it->path().filename().string(), about.st_size});
    }
    if (!error) return out;
    errno = error.value();
    return failed("list", folder);
  }

  absl::StatusOr<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return failed("open", path);
    return std::make_unique<DiskAppendFile>(fd, path);
  }

  absl::StatusOr<std::shared_ptr<const ReadFile>> open_read(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failed("open", path);
    return std::make_shared<DiskReadFile>(fd, path);
  }

  absl::Status rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? absl::OkStatus() : failed("rename", from);
  }

  absl::Status remove(const std::string& path) override {
    return ::unlink(path.c_str()) == 0 ? absl::OkStatus() : failed("remove", path);
  }

  absl::StatusOr<int64_t> free_bytes(const std::string& folder) override {
    struct statvfs disk {};
    if (::statvfs(folder.c_str(), &disk) != 0) return failed("get the free space of", folder);
    return static_cast<int64_t>(uint64_t{disk.f_bavail} * disk.f_frsize);
  }
};

}  // namespace

Files& disk_files() {
  static DiskFiles files;
  return files;
}

}  // namespace hodei::store
