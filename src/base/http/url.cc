#include "src/base/http/url.h"

#include <algorithm>

#include "src/base/status.h"

namespace hodei::http {
namespace {

constexpr size_t kLongestUrl = 8192;

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A space or a control character would end the request line and begin something else.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

bool has_default_port(const Url& url) { return url.port == (url.secure ? "443" : "80"); }

absl::Status read_authority(std::string_view authority, Url& url) {
  if (authority.find('@') != std::string_view::npos) {
    return absl::InvalidArgumentError("a URL must not contain a user name or password");
  }
  url.port = url.secure ? "443" : "80";
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos)
      return absl::InvalidArgumentError("the IPv6 address in the URL has no closing bracket");
    url.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return absl::InvalidArgumentError("the URL has no host name");
  if (port.empty()) return absl::OkStatus();
  port.remove_prefix(1);
  if (!is_port(port)) return absl::InvalidArgumentError(cat("'", port, "' is not a port"));
  url.port = port;
  return absl::OkStatus();
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : cat("[", host, "]");
  return has_default_port(*this) ? name : cat(name, ":", port);
}

std::string Url::text() const {
  return cat(secure ? "https://" : "http://", authority(), std::string_view(target).substr(0, target.find('?')));
}

absl::StatusOr<Url> parse_url(std::string_view text) {
  if (text.size() > kLongestUrl)
    return absl::InvalidArgumentError(cat("the URL is longer than ", kLongestUrl, " characters"));
  if (!is_plain(text)) return absl::InvalidArgumentError("the URL contains a space or a control character");
  Url url;
  if (text.starts_with("https://")) {
    url.secure = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return absl::InvalidArgumentError(cat("'", text, "' is not an http:// or https:// URL"));
  }
  const size_t end = std::min(text.find_first_of("/?#"), text.size());
  RETURN_IF_ERROR(read_authority(text.substr(0, end), url));
  std::string_view target = text.substr(end);
  target = target.substr(0, target.find('#'));
  url.target = target.starts_with('/') ? std::string(target) : cat("/", target);
  return url;
}

absl::StatusOr<Url> follow_location(const Url& base, std::string_view location) {
  if (location.empty()) return absl::UnavailableError(cat(base.text(), ": redirects without a location"));
  if (location.starts_with("//")) return parse_url(cat(base.secure ? "https:" : "http:", location));
  if (location.starts_with("http://") || location.starts_with("https://")) {
    ASSIGN_OR_RETURN(Url next, parse_url(location));
    if (base.secure && !next.secure) {
      return absl::FailedPreconditionError(cat(base.text(), ": redirects from https to http, which is not allowed"));
    }
    return next;
  }
  if (!is_plain(location)) return absl::UnavailableError(cat(base.text(), ": redirects to an invalid URL"));
  Url next = base;
  const std::string path = base.target.substr(0, base.target.find('?'));
  next.target =
      location.starts_with('/') ? std::string(location) : path.substr(0, path.rfind('/') + 1) + std::string(location);
  return next;
}

}  // namespace hodei::http
