#include "src/providers/firecracker/jail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/base/hash.h"
#include "src/base/pause.h"
#include "src/base/status.h"

namespace hodei::providers::firecracker {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestId = 64;
constexpr int64_t kPeriodMicros = 100'000;
constexpr int64_t kOverheadMb = 128;  // of the process besides the machine's memory, page cache included
constexpr Duration kGroupPatience = 5s;
constexpr Duration kBetweenJailLooks = 5ms;
constexpr const char* kGroups = "/sys/fs/cgroup";
constexpr const char* kControllers[] = {"cpu", "memory"};

std::string file_name(const std::string& path) { return fs::path(path).filename(); }

bool has_second_version() { return fs::exists(cat(kGroups, "/cgroup.controllers")); }

// A file that others use too is linked, so that it takes no room; on another disk it has to be copied.
absl::Status bring(const std::string& from, const std::string& to, bool own, const JailOptions& options) {
  std::error_code error;
  if (own) {
    fs::rename(from, to, error);
    if (!error && chown(to.c_str(), options.uid, options.gid) != 0) error.assign(errno, std::generic_category());
  } else {
    fs::create_hard_link(from, to, error);
    if (error) {
      error.clear();
      fs::copy_file(from, to, error);
    }
    struct stat info {};
    if (!error && (stat(to.c_str(), &info) != 0 || (info.st_mode & S_IROTH) == 0)) {
      return absl::FailedPreconditionError(cat("jailer: ", from, " must be readable by everyone: chmod a+r ", from));
    }
  }
  if (error) return absl::UnavailableError(cat("jailer: cannot copy ", from, " into ", to, ": ", error.message()));
  return absl::OkStatus();
}

absl::Status remove_group(const std::string& group, MonoTime end) {
  const SystemClock clock;
  while (rmdir(group.c_str()) != 0 && errno != ENOENT) {
    // A process that has ended is in its group until its parent has seen that.
    if (errno != EBUSY || clock.now().mono > end) {
      return absl::UnavailableError(cat("jailer: cannot remove ", group, ": ", strerror(errno)));
    }
    pause_for(kBetweenJailLooks);
  }
  return absl::OkStatus();
}

}  // namespace

std::string jail_id(const std::string& worker) {
  if (worker.size() <= kLongestId) return worker;
  return fmt::format("{}-{:016x}", worker.substr(0, 40), hash64(worker));
}

std::string jail_root(const std::string& firecracker, const std::string& id, const std::string& folder) {
  return cat(folder, "/jail/", file_name(firecracker), "/", jail_id(id), "/root");
}

absl::StatusOr<Machine> move_into_jail(const JailOptions& options, const std::string& root, const Machine& machine) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) return absl::UnavailableError(cat("jailer: cannot create ", root, ": ", error.message()));
  Machine inside = machine;
  inside.kernel = "/kernel";
  inside.initramfs = "/initramfs";
  RETURN_IF_ERROR(bring(machine.kernel, root + inside.kernel, false, options));
  RETURN_IF_ERROR(bring(machine.initramfs, root + inside.initramfs, false, options));
  for (Drive& drive : inside.drives) {
    const std::string outside = drive.path;
    drive.path = "/" + drive.id;
    RETURN_IF_ERROR(bring(outside, root + drive.path, outside.starts_with(machine.folder + "/"), options));
  }
  return inside;
}

std::vector<std::string> jailer_arguments(const JailOptions& options, const std::string& firecracker,
                                          const Machine& machine) {
  std::vector<std::string> out = {options.jailer,
                                  "--id",
                                  jail_id(machine.id),
                                  "--exec-file",
                                  firecracker,
                                  "--uid",
                                  cat(options.uid),
                                  "--gid",
                                  cat(options.gid),
                                  "--chroot-base-dir",
                                  machine.folder + "/jail"};
  if (!machine.jail_parent.empty()) out.insert(out.end(), {"--parent-cgroup", machine.jail_parent});
  const auto limit = [&out](const std::string& text) {
    out.emplace_back("--cgroup");
    out.push_back(text);
  };
  const int64_t memory = (machine.memory_mb + kOverheadMb) << 20;
  const int64_t quota = machine.cpu_milli * kPeriodMicros / 1000;
  out.emplace_back("--cgroup-version");
  out.emplace_back(has_second_version() ? "2" : "1");
  if (has_second_version()) {
    limit(cat("memory.max=", memory));
    if (quota > 0) limit(cat("cpu.max=", quota, " ", kPeriodMicros));
  } else {
    limit(cat("memory.limit_in_bytes=", memory));
    if (quota > 0) limit(cat("cpu.cfs_quota_us=", quota));
  }
  out.emplace_back("--");
  return out;
}

absl::Status remove_jail_groups(const std::string& firecracker, const std::string& parent, const std::string& folder) {
  std::vector<std::string> hierarchies;
  if (has_second_version()) {
    hierarchies.emplace_back(kGroups);
  } else {
    for (const char* controller : kControllers) hierarchies.push_back(cat(kGroups, "/", controller));
  }
  const SystemClock clock;
  const MonoTime end = clock.now().mono + kGroupPatience;
  std::error_code none;
  for (const std::string& hierarchy : hierarchies) {
    for (const std::string& above : {parent, file_name(firecracker)}) {
      for (const auto& jail : fs::directory_iterator(cat(folder, "/jail/", file_name(firecracker)), none)) {
        RETURN_IF_ERROR(remove_group(cat(hierarchy, "/", above, "/", jail.path().filename().string()), end));
      }
      rmdir(cat(hierarchy, "/", above).c_str());  // fails while another machine is in it
    }
  }
  return absl::OkStatus();
}

}  // namespace hodei::providers::firecracker
