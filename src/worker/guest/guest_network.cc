#include "src/worker/guest/guest_network.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {
namespace {

constexpr const char* kCard = "eth0";
constexpr Duration kLinkPatience = 10s;
constexpr Duration kBetweenLinkLooks = 5ms;

absl::Status failed(std::string_view what) { return absl::ErrnoToStatus(errno, cat("network: ", what)); }

sockaddr as_socket_address(in_addr_t address) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = address;
  sockaddr out{};
  memcpy(&out, &in, sizeof(in));
  return out;
}

ifreq named(const char* card) {
  ifreq out{};
  strncpy(out.ifr_name, card, IFNAMSIZ - 1);
  return out;
}

absl::Status set_up(int socket, const char* card) {
  ifreq request = named(card);
  if (ioctl(socket, SIOCGIFFLAGS, &request) != 0) return failed(cat("cannot find ", card));
  request.ifr_flags |= IFF_UP;
  if (ioctl(socket, SIOCSIFFLAGS, &request) != 0) return failed(cat("cannot bring ", card, " up"));
  return absl::OkStatus();
}

absl::Status wait_for_card() {
  const SystemClock clock;
  const MonoTime end = clock.now().mono + kLinkPatience;
  while (if_nametoindex(kCard) == 0) {
    if (clock.now().mono > end) {
      return absl::NotFoundError(
          cat("network: no card has appeared as ", kCard, ": does the kernel have the driver virtio_net?"));
    }
    pause_for(kBetweenLinkLooks);
  }
  return absl::OkStatus();
}

absl::Status set_address(int socket, in_addr_t address, int prefix) {
  ifreq request = named(kCard);
  request.ifr_addr = as_socket_address(address);
  if (ioctl(socket, SIOCSIFADDR, &request) != 0) return failed("cannot set the address");
  request = named(kCard);
  request.ifr_netmask = as_socket_address(htonl(prefix == 0 ? 0 : ~uint32_t{0} << (32 - prefix)));
  if (ioctl(socket, SIOCSIFNETMASK, &request) != 0) return failed("cannot set the netmask");
  return absl::OkStatus();
}

absl::Status set_gateway(int socket, in_addr_t gateway) {
  rtentry route{};
  route.rt_dst = as_socket_address(INADDR_ANY);
  route.rt_genmask = as_socket_address(INADDR_ANY);
  route.rt_gateway = as_socket_address(gateway);
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  if (ioctl(socket, SIOCADDRT, &route) != 0 && errno != EEXIST) return failed("cannot set the gateway");
  return absl::OkStatus();
}

}  // namespace

absl::Status bring_network_up(const std::string& address, const std::string& gateway) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failed("the kernel has no IPv4");
  RETURN_IF_ERROR(set_up(socket.get(), "lo"));
  if (address.empty()) return absl::OkStatus();
  const size_t slash = address.find('/');
  in_addr own{}, host{};
  const int prefix = slash == std::string::npos ? 0 : atoi(address.c_str() + slash + 1);
  if (prefix < 1 || prefix > 32 || inet_pton(AF_INET, address.substr(0, slash).c_str(), &own) != 1) {
    return bad_field("HODEI_VM_ADDRESS", "'", address,
                     "' is not an IPv4 address with a prefix length, as in 172.31.9.7/24");
  }
  RETURN_IF_ERROR(wait_for_card());
  RETURN_IF_ERROR(set_address(socket.get(), own.s_addr, prefix));
  RETURN_IF_ERROR(set_up(socket.get(), kCard));
  if (gateway.empty()) return absl::OkStatus();
  if (inet_pton(AF_INET, gateway.c_str(), &host) != 1) {
    return bad_field("HODEI_VM_GATEWAY", "'", gateway, "' is not an IPv4 address");
  }
  return set_gateway(socket.get(), host.s_addr);
}

}  // namespace hodei::worker
