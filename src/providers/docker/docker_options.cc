#include "src/providers/docker/docker_options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "src/base/http/url.h"
#include "src/base/status.h"
#include "src/providers/docker/image_reference.h"

namespace hodei::providers::docker {
namespace {

constexpr const char* kDefaultHost = "unix:///var/run/docker.sock";
constexpr const char* kKnown[] = {"host", "image",   "pull",        "registry_auth", "network", "user",
                                  "pids", "runtime", "max_workers", "labels",        "volumes", "extra_hosts"};

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) out.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return out;
}

template <class Number>
absl::Status read_number(const StringMap& options, const char* name, Number most, Number& into) {
  const auto it = options.find(name);
  if (it == options.end()) return absl::OkStatus();
  const std::string& text = it->second;
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most) {
    return bad_field(name, "'", text, "' is not a number from 0 (no limit) to ", most);
  }
  into = value;
  return absl::OkStatus();
}

absl::Status check_known(const StringMap& options) {
  for (const auto& [name, value] : options) {
    if (std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown)) continue;
    std::string all;
    for (const char* known : kKnown) all += cat(all.empty() ? "" : ", ", known);
    return bad_field(name, "the docker provider has no such option; the options are ", all);
  }
  return absl::OkStatus();
}

absl::StatusOr<PullPolicy> parse_pull(const std::string& text) {
  if (text == "never") return PullPolicy::Never;
  if (text == "missing") return PullPolicy::Missing;
  if (text == "always") return PullPolicy::Always;
  return bad_field("pull", "'", text, "' is not one of never, missing, always");
}

absl::StatusOr<StringMap> parse_labels(const std::string& text) {
  StringMap labels;
  for (const std::string& item : split(text)) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      return bad_field("labels", "'", item, "' is not of the form KEY=VALUE");
    if (item.starts_with("hodei."))
      return bad_field("labels", "'", item, "': labels starting with 'hodei.' are reserved");
    labels[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return labels;
}

absl::StatusOr<std::vector<std::string>> parse_pairs(const char* name, const std::string& text, const char* form) {
  std::vector<std::string> pairs = split(text);
  for (const std::string& item : pairs) {
    const size_t colon = item.find(':');
    if (colon == 0 || colon == std::string::npos || colon + 1 == item.size()) {
      return bad_field(name, "'", item, "' is not of the form ", form);
    }
  }
  return pairs;
}

// The host in "host:port", "[::1]:port" or "http://host:port".
std::string_view host_in(std::string_view address) {
  if (const size_t scheme = address.find("://"); scheme != std::string_view::npos) address.remove_prefix(scheme + 3);
  if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
  return address.substr(0, address.find_first_of(":/"));
}

}  // namespace

bool is_loopback(const std::string& addresses) {
  const std::vector<std::string> all = split(addresses);
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const std::string& address) {
    const std::string_view host = host_in(address);
    return host == "localhost" || host == "::1" || host == "0.0.0.0" || host.starts_with("127.");
  });
}

absl::StatusOr<EngineAddress> parse_host(const std::string& host) {
  if (host.starts_with("unix://") || host.starts_with("/")) {
    const std::string path = host.starts_with("/") ? host : host.substr(7);
    if (path.starts_with("/"))
      return EngineAddress{.text = cat("unix://", path), .unix_socket = path, .base = "http://docker"};
    return bad_field("host", "'", host, "' is not an absolute path; write unix:///var/run/docker.sock");
  }
  if (!host.starts_with("tcp://")) {
    return bad_field("host", "'", host,
                     "' is neither unix:///PATH nor tcp://HOST:PORT; to reach an engine over ssh or TLS, "
                     "forward its socket: ssh -L /tmp/docker.sock:/var/run/docker.sock HOST");
  }
  const std::string base = cat("http://", host.substr(6));
  const absl::StatusOr<http::Url> url = http::parse_url(base);
  if (!url.ok() || url->target != "/") return bad_field("host", "'", host, "' is not of the form tcp://HOST:PORT");
  const std::string port = url->port == "80" && !host.ends_with(":80") ? "2375" : url->port;
  const std::string name = url->host.find(':') == std::string::npos ? url->host : cat("[", url->host, "]");
  return EngineAddress{.text = host, .base = cat("http://", name, ":", port), .on_this_machine = is_loopback(name)};
}

absl::StatusOr<DockerOptions> read_options(const StringMap& options) {
  RETURN_IF_ERROR(check_known(options));
  const auto given = [&](const char* name, const std::string& otherwise = "") {
    const auto it = options.find(name);
    return it == options.end() || it->second.empty() ? otherwise : it->second;
  };
  DockerOptions out;
  ASSIGN_OR_RETURN(out.engine, parse_host(given("host", from_environment("DOCKER_HOST", kDefaultHost))));
  out.image = given("image", from_environment("HODEI_WORKER_IMAGE", kOwnImage));
  RETURN_IF_ERROR(parse_image(out.image).status());
  ASSIGN_OR_RETURN(out.pull, parse_pull(given("pull", "missing")));
  out.registry_auth = given("registry_auth");
  out.network = given("network");
  out.user = given("user");
  out.runtime = given("runtime");
  RETURN_IF_ERROR(read_number<int64_t>(options, "pids", 4'194'304, out.pids));
  RETURN_IF_ERROR(read_number<uint32_t>(options, "max_workers", 100'000, out.max_workers));
  ASSIGN_OR_RETURN(out.labels, parse_labels(given("labels")));
  ASSIGN_OR_RETURN(out.volumes, parse_pairs("volumes", given("volumes"), "/HERE:/THERE or /HERE:/THERE:ro"));
  ASSIGN_OR_RETURN(out.extra_hosts, parse_pairs("extra_hosts", given("extra_hosts"), "NAME:ADDRESS"));
  return out;
}

}  // namespace hodei::providers::docker
