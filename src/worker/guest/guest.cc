#include "src/worker/guest/guest.h"

#include <fcntl.h>
#include <linux/reboot.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/worker/guest/guest_disks.h"
#include "src/worker/guest/guest_network.h"
#include "src/worker/guest/guest_root.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/first_process.h"
#include "src/worker/system/journal.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr const char* kModules = "/modules";  // of the initramfs; the names sort in the order of loading

std::string_view word(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// A driver that the kernel has inside, or that this machine does not need, is no reason to stop.
void load_modules() {
  std::error_code none;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kModules, none)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const Fd module(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (syscall(SYS_finit_module, module.get(), "", 0) != 0 && errno != EEXIST) {
      say("cannot load ", file, ": ", strerror(errno), "; continuing");
    }
  }
}

void set_defaults() {
  setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
  setenv("HOME", "/root", 1);
  const std::string name(word("HODEI_WORKER_ID"));
  if (!name.empty() && sethostname(name.c_str(), name.size()) != 0) say("cannot set the host name: ", strerror(errno));
}

// What the image that the root was made from wants its programs to have; what the server said is not the image's
// business.
void take_environment_of_image() {
  std::istringstream lines(read_file("/.hodei/environment"));
  for (std::string line; std::getline(lines, line);) {
    const size_t sign = line.find('=');
    if (sign == std::string::npos || sign == 0 || line.starts_with("HODEI_")) continue;
    setenv(line.substr(0, sign).c_str(), line.c_str() + sign + 1, 1);
  }
}

absl::Status bring_up() {
  load_modules();
  ASSIGN_OR_RETURN(const GuestDisks disks, find_guest_disks(!word("HODEI_VM_ROOT").empty()));
  RETURN_IF_ERROR(take_settings(disks.settings));
  set_defaults();
  RETURN_IF_ERROR(bring_network_up(std::string(word("HODEI_VM_ADDRESS")), std::string(word("HODEI_VM_GATEWAY"))));
  if (disks.root.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(enter_root(disks));
  setenv("HODEI_VM", "up", 1);
  return start_again_in_root();
}

}  // namespace

bool is_guest() { return getpid() == 1 && !word("HODEI_VM").empty(); }

void bring_guest_up() {
  mount_what_is_missing();
  if (word("HODEI_VM") != "up") {
    hold_console();
    if (word("HODEI_VM") == "probe") {
      say("a guest has booted");
      switch_guest_off();
    }
    if (const absl::Status up = bring_up(); !up.ok()) {
      say("this microVM cannot start: ", std::string(up.message()));
      switch_guest_off();
    }
  } else {
    take_environment_of_image();
  }
  say("the worker of this microVM starts");
}

void switch_guest_off() {
  sync();
  // Not a power-off: small machines have no way to do that, but each of them ends instead of starting again.
  reboot(RB_AUTOBOOT);
  while (true) ::pause();
}

}  // namespace hodei::worker
