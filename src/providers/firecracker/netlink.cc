#include "src/providers/firecracker/netlink.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "src/base/status.h"
#include "src/providers/firecracker/fd.h"

namespace hodei::providers::firecracker {
namespace {

// One request with room for a body and a few attributes.
class NetlinkRequest {
 public:
  template <class Body>
  NetlinkRequest(uint16_t type, uint16_t flags, const Body& body) {
    static_assert(sizeof(Body) <= 64);
    head().nlmsg_type = type;
    head().nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    head().nlmsg_len = NLMSG_LENGTH(sizeof(Body));
    memcpy(NLMSG_DATA(&head()), &body, sizeof(Body));
  }

  void add(uint16_t type, const void* value, size_t size) {
    auto* attribute = reinterpret_cast<rtattr*>(bytes_ + NLMSG_ALIGN(head().nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = static_cast<uint16_t>(RTA_LENGTH(size));
    memcpy(RTA_DATA(attribute), value, size);
    head().nlmsg_len = static_cast<uint32_t>(NLMSG_ALIGN(head().nlmsg_len) + RTA_LENGTH(size));
  }

  // 0, or what errno would say.
  int send() {
    const Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket.is_open()) return errno;
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    if (sendto(socket.get(), bytes_, head().nlmsg_len, 0, reinterpret_cast<sockaddr*>(&kernel), sizeof(kernel)) < 0) {
      return errno;
    }
    alignas(nlmsghdr) char answer[1024];
    const ssize_t size = recv(socket.get(), answer, sizeof(answer), 0);
    if (size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) return size < 0 ? errno : EBADMSG;
    nlmsgerr error{};
    memcpy(&error, NLMSG_DATA(reinterpret_cast<nlmsghdr*>(answer)), sizeof(error));
    return -error.error;
  }

 private:
  nlmsghdr& head() { return *reinterpret_cast<nlmsghdr*>(bytes_); }
  alignas(nlmsghdr) char bytes_[256] = {};
};

absl::Status answer(int error, std::string_view what) {
  if (error == 0) return absl::OkStatus();
  if (error == EPERM) {
    return absl::FailedPreconditionError(
        cat("network: not allowed to ", what, ": run the server as root or give it the capability CAP_NET_ADMIN"));
  }
  return absl::UnavailableError(cat("network: cannot ", what, ": ", strerror(error)));
}

in_addr parsed(const std::string& address) {
  in_addr out{};
  HODEI_CHECK(inet_pton(AF_INET, address.c_str(), &out) == 1);
  return out;
}

}  // namespace

absl::Status add_address(unsigned device, const std::string& address) {
  ifaddrmsg body{};
  body.ifa_family = AF_INET;
  body.ifa_prefixlen = 32;
  body.ifa_index = device;
  NetlinkRequest request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, body);
  const in_addr bytes = parsed(address);
  request.add(IFA_LOCAL, &bytes, sizeof(bytes));
  request.add(IFA_ADDRESS, &bytes, sizeof(bytes));
  return answer(request.send(), cat("give a device the address ", address));
}

absl::Status add_route(unsigned device, const std::string& to, const std::string& from) {
  rtmsg body{};
  body.rtm_family = AF_INET;
  body.rtm_dst_len = 32;
  body.rtm_table = RT_TABLE_MAIN;
  body.rtm_protocol = RTPROT_STATIC;
  body.rtm_scope = RT_SCOPE_LINK;
  body.rtm_type = RTN_UNICAST;
  NetlinkRequest request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, body);
  const in_addr target = parsed(to), source = parsed(from);
  request.add(RTA_DST, &target, sizeof(target));
  request.add(RTA_PREFSRC, &source, sizeof(source));
  request.add(RTA_OIF, &device, sizeof(device));
  const int error = request.send();
  if (error == EEXIST) return absl::AlreadyExistsError(cat("network: another device already routes to ", to));
  return answer(error, cat("add a route to ", to));
}

absl::Status remove_link(unsigned device) {
  ifinfomsg body{};
  body.ifi_family = AF_UNSPEC;
  body.ifi_index = static_cast<int>(device);
  const int error = NetlinkRequest(RTM_DELLINK, 0, body).send();
  return error == ENODEV ? absl::OkStatus() : answer(error, "remove a device");
}

}  // namespace hodei::providers::firecracker
