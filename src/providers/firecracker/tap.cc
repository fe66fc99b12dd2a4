#include "src/providers/firecracker/tap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "src/base/status.h"
#include "src/providers/firecracker/netlink.h"

namespace hodei::providers::firecracker {
namespace {

absl::Status failed(std::string_view what, const std::string& name) {
  if (errno == EPERM || errno == EACCES) {
    return absl::FailedPreconditionError(cat("network: not allowed to ", what, " ", name,
                                             ": run the server as root or give it the capability CAP_NET_ADMIN"));
  }
  return absl::UnavailableError(cat("network: cannot ", what, " ", name, ": ", strerror(errno)));
}

absl::StatusOr<Fd> attach(const std::string& name) {
  Fd device(open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!device.is_open()) {
    if (errno == EPERM || errno == EACCES) return failed("open", "/dev/net/tun");
    return absl::FailedPreconditionError(
        cat("network: cannot open /dev/net/tun: ", strerror(errno),
            "; load the kernel module tun, and give the server's container access to the device"));
  }
  ifreq request{};
  strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(device.get(), TUNSETIFF, &request) != 0) return failed("create device", name);
  return device;
}

// A guest has business with the server only: the host does not pass its packets on, and speaks no IPv6 with it.
void close_other_ways(const std::string& name) {
  for (const auto& [file, value] : {std::pair{"ipv4/conf/%/forwarding", "0"}, {"ipv6/conf/%/disable_ipv6", "1"}}) {
    std::string path = cat("/proc/sys/net/", file);
    path.replace(path.find('%'), 1, name);
    const Fd setting(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    // Where /proc/sys is read-only the machine's administrator decides about forwarding.
    if (setting.is_open()) [[maybe_unused]]
      const ssize_t wrote = write(setting.get(), value, 1);
  }
}

absl::Status set_up(const std::string& name) {
  const Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (ioctl(any.get(), SIOCGIFFLAGS, &request) != 0) return failed("find device", name);
  request.ifr_flags |= IFF_UP;
  return ioctl(any.get(), SIOCSIFFLAGS, &request) == 0 ? absl::OkStatus() : failed("bring up device", name);
}

absl::Status give_address(const std::string& name, const std::string& address) {
  const unsigned index = if_nametoindex(name.c_str());
  if (index == 0) return failed("find device", name);
  RETURN_IF_ERROR(add_address(index, address));
  close_other_ways(name);
  return set_up(name);
}

absl::Status make(const Tap& tap) {
  ASSIGN_OR_RETURN(const Fd device, attach(tap.name));
  if (ioctl(device.get(), TUNSETOWNER, tap.owner) != 0) return failed("change the owner of device", tap.name);
  if (ioctl(device.get(), TUNSETPERSIST, 1) != 0) return failed("keep device", tap.name);
  RETURN_IF_ERROR(give_address(tap.name, tap.host));
  return add_route(if_nametoindex(tap.name.c_str()), tap.guest, tap.host);
}

}  // namespace

absl::Status make_tap(const Tap& tap) {
  const absl::Status made = make(tap);
  if (!made.ok()) remove_tap(tap.name).IgnoreError();
  return made;
}

absl::Status remove_tap(const std::string& name) {
  if (!tap_exists(name)) return absl::OkStatus();
  absl::StatusOr<Fd> device = attach(name);
  // A process that has just ended may still hold it for a moment; by its index it goes all the same.
  if (!device.ok()) return remove_link(if_nametoindex(name.c_str()));
  return ioctl(device->get(), TUNSETPERSIST, 0) == 0 ? absl::OkStatus() : failed("remove device", name);
}

bool tap_exists(const std::string& name) { return if_nametoindex(name.c_str()) != 0; }

std::vector<std::string> devices_named(const std::string& beginning) {
  std::vector<std::string> out;
  struct if_nameindex* all = if_nameindex();
  if (all == nullptr) return out;
  for (auto* each = all; each->if_index != 0; ++each) {
    if (std::string_view(each->if_name).starts_with(beginning)) out.emplace_back(each->if_name);
  }
  if_freenameindex(all);
  return out;
}

absl::StatusOr<Fd> hold_address(const std::string& name, const std::string& address) {
  ASSIGN_OR_RETURN(Fd device, attach(name));
  RETURN_IF_ERROR(give_address(name, address));
  return device;
}

}  // namespace hodei::providers::firecracker
