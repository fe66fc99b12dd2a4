#include "src/cli/text/address.h"

#include "src/base/status.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

absl::Status bad_address(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(cat("'", text, "' ", why, "; write host:port or http://host:port"));
}

bool good_host(std::string_view host) {
  return !host.empty() &&
         host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%") ==
             std::string_view::npos;
}

}  // namespace

absl::StatusOr<Address> parse_address(std::string_view text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    return absl::InvalidArgumentError(cat("'", text, "' is a port without a host; write 127.0.0.1:", text));
  }
  std::string_view rest = text;
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
    const std::string_view name = rest.substr(0, scheme);
    if (name == "https") return bad_address(text, "uses TLS, which is not supported yet");
    if (name != "http" && name != "grpc") return bad_address(text, cat("has the unknown scheme '", name, "'"));
    rest.remove_prefix(scheme + 3);
    if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  }
  Address out;
  size_t colon = rest.rfind(':');
  if (!rest.empty() && rest[0] == '[') {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad_address(text, "has a '[' without ']'");
    out.host = std::string(rest.substr(1, close - 1));
    colon = close + 1 < rest.size() ? close + 1 : std::string_view::npos;
  } else {
    if (colon != std::string_view::npos && rest.find(':') != colon) {
      return bad_address(text, "is an IPv6 address without brackets");
    }
    out.host = std::string(rest.substr(0, colon));
  }
  if (!good_host(out.host)) return bad_address(text, "has no valid host");
  if (colon != std::string_view::npos) {
    const absl::StatusOr<int64_t> port = parse_count(rest.substr(colon + 1), 0, 65535);
    if (rest[colon] != ':' || !port.ok()) return bad_address(text, "has no valid port");
    out.port = static_cast<int>(*port);
  }
  return out;
}

absl::StatusOr<std::vector<Address>> parse_addresses(std::string_view text) {
  std::vector<Address> out;
  for (const std::string& one : split_list(text)) {
    ASSIGN_OR_RETURN(Address address, parse_address(one));
    out.push_back(std::move(address));
  }
  if (out.empty()) return bad_address(text, "contains no server");
  return out;
}

absl::StatusOr<std::optional<Address>> parse_listen(std::string_view text) {
  if (text == "off") return std::nullopt;
  ASSIGN_OR_RETURN(Address address, parse_address(text));
  const bool has_port = text.ends_with(cat(":", address.port));
  if (!has_port) return absl::InvalidArgumentError(cat("'", text, "' has no port; write host:port, or off"));
  return address;
}

std::string to_string(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return v6 ? cat("[", address.host, "]:", address.port) : cat(address.host, ":", address.port);
}

bool is_loopback(const Address& address) {
  return address.host == "localhost" || address.host == "::1" || address.host.substr(0, 4) == "127.";
}

}  // namespace hodei::cli
