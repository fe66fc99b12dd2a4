#include "src/providers/firecracker/boot_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/base/hash.h"
#include "src/base/random.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/providers/firecracker/fd.h"
#include "src/providers/firecracker/settings.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker {
namespace {

namespace fs = std::filesystem;

// As src/worker/guest/guest_disks.h reads it.
constexpr char kSettingsMark[] = "HODEIVM1";
constexpr const char* kScratchLabel = "hodei-scratch";
constexpr size_t kSector = 512;
constexpr size_t kMaxSettingsBytes = 64 << 10;

// An archive as `cpio -H newc` writes it.
class Archive {
 public:
  explicit Archive(std::ofstream& out) : out_(out) {}

  void add(const std::string& name, uint32_t mode, uint64_t size = 0, uint32_t major = 0, uint32_t minor = 0) {
    pad();
    put(fmt::format("070701{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}", ++number_,
                    mode, 0, 0, 1, 0, size, 0, 0, major, minor, name.size() + 1, 0));
    put(name + '\0');
    pad();
  }
  void put(const std::string& bytes) {
    out_ << bytes;
    written_ += bytes.size();
  }
  void pad() { put(std::string((4 - written_ % 4) % 4, '\0')); }

 private:
  std::ofstream& out_;
  uint32_t number_ = 0;
  uint64_t written_ = 0;
};

absl::StatusOr<std::string> content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) return absl::FailedPreconditionError(cat("cannot read ", path, ": ", strerror(errno)));
  return out;
}

std::string mark_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "none";
  return cat(info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
}

absl::Status write_initramfs(const std::string& file, const std::string& modules, const std::string& worker) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  Archive archive(out);
  if (fs::exists(modules)) {
    ASSIGN_OR_RETURN(const std::string drivers, content(modules));
    archive.put(drivers);
  }
  ASSIGN_OR_RETURN(const std::string program, content(worker));
  archive.add("dev", S_IFDIR | 0755);
  archive.add("dev/console", S_IFCHR | 0600, 0, 5, 1);
  archive.add("init", S_IFREG | 0755, program.size());
  archive.put(program);
  archive.add("TRAILER!!!", 0);
  archive.pad();
  out.close();
  if (!out) return absl::UnavailableError(cat("cannot write ", file, ": ", strerror(errno)));
  return absl::OkStatus();
}

}  // namespace

std::string modules_of(const std::string& kernel) { return cat(kernel, ".modules.cpio"); }

absl::StatusOr<std::string> initramfs_for(const std::string& kernel, const std::string& worker,
                                          const std::string& folder) {
  const std::string modules = modules_of(kernel);
  const std::string marks = cat(worker, " ", mark_of(worker), " ", modules, " ", mark_of(modules));
  const std::string name = fmt::format(".initramfs-{:016x}", hash64(marks));
  std::string file = cat(folder, "/", name);
  if (fs::exists(file)) return file;
  // Written under another name and then renamed, so that the file is always complete.
  const std::string draft = cat(folder, "/.draft-", random_uuid());
  const absl::Status written = write_initramfs(draft, modules, worker);
  std::error_code error;
  // For the user of a jail too; there are no secrets in it.
  if (written.ok()) fs::permissions(draft, fs::perms(0644), error);
  if (written.ok() && !error) fs::rename(draft, file, error);
  std::error_code none;
  if (!written.ok() || error) fs::remove(draft, none);
  RETURN_IF_ERROR(written);
  if (error) return absl::UnavailableError(cat("cannot write ", file, ": ", error.message()));
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string other = entry.path().filename();
    if (other.starts_with(".initramfs-") && other != name) fs::remove(entry.path(), none);
  }
  return file;
}

absl::Status write_settings_disk(const std::string& file, const StringMap& settings) {
  std::string bytes(kSettingsMark, sizeof(kSettingsMark));
  for (const auto& [name, value] : settings) {
    if ((name + value).find('\0') != std::string::npos)
      return bad_field(cat("environment.", name), "contains a NUL byte");
    bytes += cat(name, "=", value) + '\0';
  }
  bytes += '\0';
  if (bytes.size() > kMaxSettingsBytes) {
    return bad_field("environment", bytes.size(), " bytes; a microVM accepts at most ", kMaxSettingsBytes);
  }
  bytes.resize((bytes.size() + kSector - 1) / kSector * kSector);
  const Fd out(open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  if (!out.is_open() || write(out.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return absl::UnavailableError(cat("cannot write ", file, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> make_scratch_disk(const std::string& file, int64_t size_mb) {
  std::string program;
  for (const char* place : {"mkfs.ext4", "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"}) {
    if (program.empty()) program = find_program(place);
  }
  if (program.empty()) return false;
  const Fd out(open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!out.is_open() || ftruncate(out.get(), size_mb << 20) != 0) {
    return absl::UnavailableError(
        cat("cannot create a file of ", megabytes_text(size_mb), " at ", file, ": ", strerror(errno)));
  }
  // What is on it ends with the machine: it needs no journal, and nobody has to fill its tables before.
  RETURN_IF_ERROR(run_program({program, "-q", "-F", "-m", "0", "-O", "^has_journal", "-E",
                               "lazy_itable_init=1,nodiscard", "-L", kScratchLabel, file}));
  return true;
}

}  // namespace hodei::providers::firecracker
