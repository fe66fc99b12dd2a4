#include "src/providers/docker/registry_auth.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "src/base/status.h"
#include "src/providers/docker/image_reference.h"
#include "src/providers/docker/json_fields.h"

namespace hodei::providers::docker {
namespace {

// `docker login` writes hosts, other tools whole URLs.
std::string host_of(std::string_view registry) {
  if (const size_t scheme = registry.find("://"); scheme != std::string_view::npos) registry.remove_prefix(scheme + 3);
  const std::string host(registry.substr(0, registry.find('/')));
  return host == "docker.io" || host == "registry-1.docker.io" ? "index.docker.io" : host;
}

std::string default_file() {
  if (const char* folder = std::getenv("DOCKER_CONFIG"); folder != nullptr && *folder != '\0')
    return cat(folder, "/config.json");
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::string() : cat(home, "/.docker/config.json");
}

// URL-safe and padded: an engine takes what is not padded for no credentials at all, without a word.
std::string header_of(const Json& credentials) {
  std::string out = absl::WebSafeBase64Escape(dump(credentials));
  out.resize((out.size() + 3) / 4 * 4, '=');
  return out;
}

absl::StatusOr<Json> credentials(const Json& entry, const std::string& registry) {
  Json out = {{"serveraddress", registry}};
  if (const std::string token = text(entry, "identitytoken"); !token.empty()) {
    out["identitytoken"] = token;
    return out;
  }
  std::string user = text(entry, "username");
  std::string password = text(entry, "password");
  if (const std::string packed = text(entry, "auth"); !packed.empty()) {
    std::string plain;
    const size_t colon = absl::Base64Unescape(packed, &plain) ? plain.find(':') : std::string::npos;
    if (colon == std::string::npos) {
      return absl::FailedPreconditionError(cat("'auth' of ", registry, " is not user:password in base64"));
    }
    user = plain.substr(0, colon);
    password = plain.substr(colon + 1);
  }
  if (user.empty()) return Json();
  out["username"] = user;
  out["password"] = password;
  return out;
}

}  // namespace

absl::StatusOr<std::string> registry_auth(std::string_view config, const std::string& registry) {
  const Json all = parse_json(config);
  if (!all.is_object()) return absl::FailedPreconditionError("is not a JSON object");
  const Json& entries = field(all, "auths");
  if (entries.is_object()) {
    for (const auto& [name, entry] : entries.items()) {
      if (host_of(name) != host_of(registry)) continue;
      ASSIGN_OR_RETURN(const Json found, credentials(entry, registry));
      if (found.is_object()) return header_of(found);
    }
  }
  // A program of the user's desktop would be asked: a server has none. Saying so saves a long search.
  const std::string helper =
      field(all, "credHelpers").is_object() ? text(field(all, "credHelpers"), host_of(registry).c_str()) : "";
  if (!helper.empty()) {
    return absl::FailedPreconditionError(
        cat("leaves ", registry, " to the credential helper '", helper,
            "', which is not supported; write the credentials to 'auths' in a separate file "
            "and set registry_auth to its path"));
  }
  return std::string();
}

absl::StatusOr<std::string> registry_auth_of_file(const std::string& path, const std::string& registry) {
  const std::string file = path.empty() ? default_file() : path;
  if (path.empty() && (file.empty() || access(file.c_str(), R_OK) != 0)) return std::string();
  std::ifstream in(file);
  if (!in) return absl::FailedPreconditionError(cat("registry_auth: cannot read ", file));
  const std::string config((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  absl::StatusOr<std::string> header = registry_auth(config, registry);
  if (!header.ok())
    return absl::FailedPreconditionError(cat("registry_auth: ", file, " ", std::string(header.status().message())));
  return header;
}

}  // namespace hodei::providers::docker
