#include "src/worker/guest/guest_disks.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/journal.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr size_t kMaxSettingsBytes = 64 << 10;
constexpr Duration kPatience = 10s;
constexpr Duration kBetweenLooks = 5ms;
// Where ext4 keeps its magic number and its label, and how squashfs begins.
constexpr size_t kHead = 2048, kExt4Magic = 1024 + 56, kExt4Label = 1024 + 120, kExt4LabelSize = 16;

std::string beginning_of(const std::string& device, size_t size) {
  const Fd disk(open(device.c_str(), O_RDONLY | O_CLOEXEC));
  if (!disk.is_open()) return {};
  std::string out(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t got = pread(disk.get(), out.data() + have, size - have, static_cast<off_t>(have));
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  out.resize(have);
  return out;
}

void judge(const std::string& device, GuestDisks& disks) {
  const std::string head = beginning_of(device, kHead);
  if (head.starts_with(kSettingsMark)) {
    disks.settings = device;
  } else if (head.starts_with("hsqs")) {
    disks.root = device;
  } else if (head.size() == kHead && head.compare(kExt4Magic, 2, "\x53\xef") == 0) {
    const std::string label(head.substr(kExt4Label, kExt4LabelSize).c_str());
    (label == kScratchLabel ? disks.scratch : disks.root) = device;
  }
}

}  // namespace

absl::StatusOr<GuestDisks> find_guest_disks(bool with_root) {
  const SystemClock clock;
  const MonoTime end = clock.now().mono + kPatience;
  while (true) {
    GuestDisks disks;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/block", none)) {
      judge(cat("/dev/", entry.path().filename().string()), disks);
    }
    if (!disks.settings.empty() && (!with_root || !disks.root.empty())) return disks;
    if (clock.now().mono > end) {
      return absl::NotFoundError(
          cat("no disk with ", disks.settings.empty() ? "the worker's settings" : "a root file system",
              " has appeared: does the kernel have the drivers virtio_mmio and virtio_blk, and support for "
              "ext4?"));
    }
    pause_for(kBetweenLooks);
  }
}

absl::Status take_settings(const std::string& disk) {
  const std::string all = beginning_of(disk, kMaxSettingsBytes);
  std::string_view rest = std::string_view(all).substr(sizeof(kSettingsMark));
  while (true) {
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) return absl::DataLossError("the disk with the worker's settings is truncated");
    if (end == 0) break;
    const std::string pair(rest.substr(0, end));
    const size_t sign = pair.find('=');
    if (sign != std::string::npos) setenv(pair.substr(0, sign).c_str(), pair.c_str() + sign + 1, 1);
    rest.remove_prefix(end + 1);
  }
  std::error_code none;
  const std::string name = std::filesystem::path(disk).filename();
  const std::string device = std::filesystem::canonical(cat("/sys/block/", name, "/device"), none).filename();
  if (!write_file("/sys/bus/virtio/drivers/virtio_blk/unbind", device)) {
    say("cannot detach the disk with the worker's settings: ", strerror(errno));
  }
  return absl::OkStatus();
}

}  // namespace hodei::worker
