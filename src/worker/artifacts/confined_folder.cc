#include "src/worker/artifacts/confined_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdio>

#include "src/base/status.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr size_t kLongestPath = 4000;
constexpr size_t kDeepestPath = 200;

// One step or many: a path that leaves the folder, or meets a symbolic link, does not open.
Fd open_beneath(int folder, const std::string& path, uint64_t flags, uint64_t mode = 0) {
  open_how how{.flags = flags | O_CLOEXEC,
               .mode = mode,
               .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  const long fd = syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how));
  if (fd >= 0 || errno != ENOSYS) return Fd(static_cast<int>(fd));
  // Before Linux 5.6. Callers pass a single name here (see enter), for which this is the same.
  return Fd(
      ::openat(folder, path.c_str(), static_cast<int>(flags) | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
}

absl::Status refused(std::string_view path) {
  const int error = errno;
  if (error == ELOOP)
    return absl::FailedPreconditionError(cat(path, ": contains a symbolic link, which is not followed"));
  if (error == EXDEV) return absl::FailedPreconditionError(cat(path, ": leads outside the job's folder"));
  return errno_status(error, std::string(path));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> parts_of(std::string_view path) {
  const auto refuse = [&](const char* why) { return absl::FailedPreconditionError(cat("'", path, "': ", why)); };
  if (path.empty()) return refuse("is not a path");
  if (path.size() > kLongestPath) return refuse("is too long");
  if (path.starts_with('/')) return refuse("is an absolute path");
  if (path.find('\0') != std::string_view::npos) return refuse("contains a NUL byte");
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "..") return refuse("contains '..'");
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (parts.size() > kDeepestPath) return refuse("has too many levels");
  return parts;
}

absl::StatusOr<ConfinedFolder> ConfinedFolder::open(const std::string& path) {
  Fd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder.is_open()) return errno_status(errno, path);
  return ConfinedFolder(std::move(folder));
}

absl::StatusOr<Fd> ConfinedFolder::enter(const std::vector<std::string>& parts, bool make_missing) const {
  Fd here = open_beneath(folder_.get(), ".", O_PATH | O_DIRECTORY);
  for (const std::string& part : parts) {
    if (!here.is_open()) break;
    if (make_missing && mkdirat(here.get(), part.c_str(), 0755) != 0 && errno != EEXIST) return refused(part);
    here = open_beneath(here.get(), part, O_PATH | O_DIRECTORY);
    if (!here.is_open()) return refused(part);
  }
  if (!here.is_open()) return refused(".");
  return here;
}

absl::StatusOr<ConfinedFolder::Place> ConfinedFolder::place_of(const std::string& path, bool make_missing) const {
  ASSIGN_OR_RETURN(std::vector<std::string> parts, parts_of(path));
  if (parts.empty()) return absl::FailedPreconditionError(cat("'", path, "': is the folder itself, not a file in it"));
  Place place;
  place.name = std::move(parts.back());
  parts.pop_back();
  ASSIGN_OR_RETURN(place.folder, enter(parts, make_missing));
  return place;
}

absl::StatusOr<Fd> ConfinedFolder::read_file(const std::string& path) const {
  ASSIGN_OR_RETURN(const Place place, place_of(path, false));
  // Without O_NONBLOCK a pipe that the job left would block us until a process writes to it.
  Fd file = open_beneath(place.folder.get(), place.name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file.is_open()) return refused(path);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return refused(path);
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(cat(path, ": is not a regular file"));
  return file;
}

absl::StatusOr<Fd> ConfinedFolder::make_file(const std::string& path) const {
  ASSIGN_OR_RETURN(const Place place, place_of(path, true));
  // Never written through: what has the name now may be a link to something that is not ours.
  if (unlinkat(place.folder.get(), place.name.c_str(), 0) != 0 && errno != ENOENT) return refused(path);
  Fd file = open_beneath(place.folder.get(), place.name, O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (!file.is_open()) return refused(path);
  return file;
}

absl::Status ConfinedFolder::make_folder(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::vector<std::string> parts, parts_of(path));
  return enter(parts, true).status();
}

bool ConfinedFolder::has_folder(const std::string& path) const {
  const absl::StatusOr<std::vector<std::string>> parts = parts_of(path);
  return parts.ok() && enter(*parts, false).ok();
}

absl::Status ConfinedFolder::make_symlink(const std::string& path, const std::string& target) const {
  ASSIGN_OR_RETURN(const Place place, place_of(path, true));
  if (unlinkat(place.folder.get(), place.name.c_str(), 0) != 0 && errno != ENOENT) return refused(path);
  if (symlinkat(target.c_str(), place.folder.get(), place.name.c_str()) != 0) return refused(path);
  return absl::OkStatus();
}

absl::Status ConfinedFolder::make_hard_link(const std::string& path, const std::string& existing) const {
  ASSIGN_OR_RETURN(const Place from, place_of(existing, false));
  ASSIGN_OR_RETURN(const Place to, place_of(path, true));
  struct stat info {};
  if (fstatat(from.folder.get(), from.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return refused(existing);
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(cat(existing, ": is not a regular file"));
  if (linkat(from.folder.get(), from.name.c_str(), to.folder.get(), to.name.c_str(), 0) != 0) return refused(path);
  return absl::OkStatus();
}

absl::Status ConfinedFolder::adopt(const std::string& file, const std::string& path) const {
  ASSIGN_OR_RETURN(const Place place, place_of(path, true));
  if (renameat(AT_FDCWD, file.c_str(), place.folder.get(), place.name.c_str()) != 0) return refused(path);
  return absl::OkStatus();
}

}  // namespace hodei::worker
