#include "src/providers/firecracker/address_range.h"

#include <arpa/inet.h>

#include <charconv>

#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::providers::firecracker {
namespace {

constexpr uint32_t kDefaultNetworks = 0xAC1F0000;  // 172.31.0.0
constexpr int kWidest = 16, kNarrowest = 29;

bool means_this_machine(std::string_view host) {
  return host.empty() || host == "localhost" || host.starts_with("127.") || host == "0.0.0.0" || host == "[::1]" ||
         host == "[::]";
}

}  // namespace

std::string format_address(uint32_t address) {
  return cat(address >> 24, ".", address >> 16 & 255, ".", address >> 8 & 255, ".", address & 255);
}

std::string AddressRange::host() const { return format_address(base + 1); }

std::string AddressRange::guest(uint32_t index) const { return format_address(base + 2 + index); }

absl::StatusOr<AddressRange> parse_range(std::string_view text) {
  const size_t slash = text.find('/');
  in_addr address{};
  AddressRange out{.prefix = 0};
  if (slash != std::string_view::npos) {
    std::from_chars(text.data() + slash + 1, text.data() + text.size(), out.prefix);
  }
  if (out.prefix < kWidest || out.prefix > kNarrowest ||
      inet_pton(AF_INET, std::string(text.substr(0, slash)).c_str(), &address) != 1) {
    return bad_field("network", "'", text, "' is not an IPv4 network from /", kWidest, " to /", kNarrowest,
                     ", such as 172.31.9.0/24");
  }
  out.base = ntohl(address.s_addr) & (~uint32_t{0} << (32 - out.prefix));
  return out;
}

AddressRange default_range(std::string_view words) {
  return {.base = kDefaultNetworks | static_cast<uint32_t>(hash64(words) & 255) << 8, .prefix = 24};
}

std::string as_seen_by_guest(const std::string& servers, const AddressRange& range) {
  std::string out;
  for (size_t begin = 0; begin <= servers.size();) {
    const size_t end = std::min(servers.find(',', begin), servers.size());
    std::string_view one = std::string_view(servers).substr(begin, end - begin);
    const size_t scheme = one.find("://");
    const std::string_view before = scheme == std::string_view::npos ? std::string_view() : one.substr(0, scheme + 3);
    one.remove_prefix(before.size());
    const size_t colon = one.rfind(':');
    const std::string_view host = one.substr(0, colon);
    const std::string_view port = colon == std::string_view::npos ? std::string_view() : one.substr(colon);
    out += cat(out.empty() ? "" : ",", before, means_this_machine(host) ? range.host() : std::string(host), port);
    begin = end + 1;
  }
  return out;
}

}  // namespace hodei::providers::firecracker
