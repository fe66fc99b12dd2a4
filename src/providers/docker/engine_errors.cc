#include "src/providers/docker/engine_errors.h"

#include <algorithm>
#include <cctype>

#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/providers/docker/json_fields.h"

namespace hodei::providers::docker {
namespace {

constexpr size_t kLongestMessage = 600;

struct Known {
  const char* words;  // in the engine's message, in lower case
  absl::StatusCode code;
  const char* advice;  // may be empty: the engine's own message says it
};

// The first match counts. Messages are no part of the API: an unknown message is passed on as it is, with a code
// from its status.
constexpr Known kKnownErrors[] = {
    {"exec format error", absl::StatusCode::kFailedPrecondition,
     "the worker is built for a different architecture than this engine's; use a server of the same architecture"},
    {"no space left on device", absl::StatusCode::kResourceExhausted,
     "the engine's disk is full; `docker system df` shows what uses it, `docker system prune` frees it"},
    {"cannot allocate memory", absl::StatusCode::kResourceExhausted, "the engine's machine is out of memory"},
    {"out of memory", absl::StatusCode::kResourceExhausted, "the engine's machine is out of memory"},
    {"port is already allocated", absl::StatusCode::kResourceExhausted, "another container holds that port"},
    {"address already in use", absl::StatusCode::kResourceExhausted, "another program holds that address"},
    {"could not select device driver", absl::StatusCode::kFailedPrecondition,
     "this engine has no GPU driver; install the NVIDIA container toolkit on its machine"},
    {"unknown or invalid runtime name", absl::StatusCode::kFailedPrecondition, "see the option runtime"},
    {"unknown runtime specified", absl::StatusCode::kFailedPrecondition, "see the option runtime"},
    {"unable to find user", absl::StatusCode::kFailedPrecondition, "the image has no such user; see the option user"},
    {"no matching entries in passwd", absl::StatusCode::kFailedPrecondition,
     "the image has no such user; see the option user"},
    {"network not found", absl::StatusCode::kFailedPrecondition, "see the option network"},
    {"toomanyrequests", absl::StatusCode::kUnavailable,
     "the registry limits anonymous pulls; set credentials in registry_auth"},
    {"pull access denied", absl::StatusCode::kNotFound,
     "the image does not exist or needs credentials: see the option registry_auth"},
    {"unauthorized", absl::StatusCode::kFailedPrecondition,
     "the registry rejected the credentials: see the option registry_auth"},
    {"authentication required", absl::StatusCode::kFailedPrecondition,
     "the registry requires credentials: see the option registry_auth"},
    {"no basic auth credentials", absl::StatusCode::kFailedPrecondition,
     "the registry requires credentials: see the option registry_auth"},
    {"manifest unknown", absl::StatusCode::kNotFound, "the registry has no such image or tag"},
    {"no matching manifest", absl::StatusCode::kFailedPrecondition,
     "the registry has this image for other architectures only"},
    {"client sent an http request to an https server", absl::StatusCode::kFailedPrecondition,
     "this engine requires TLS, which is not supported; forward its socket with ssh -L and set that as the option "
     "host"},
    {"no such image", absl::StatusCode::kNotFound, ""},
    {"server gave http response to https client", absl::StatusCode::kFailedPrecondition,
     "add the registry to insecure-registries of the engine's daemon.json"},
    {"certificate signed by unknown authority", absl::StatusCode::kFailedPrecondition,
     "give the engine the registry's CA in /etc/docker/certs.d"},
};

absl::StatusCode code_of(int status) {
  switch (status) {
    case 400: return absl::StatusCode::kInvalidArgument;
    case 401:
    case 403: return absl::StatusCode::kFailedPrecondition;
    case 404: return absl::StatusCode::kNotFound;
    case 409: return absl::StatusCode::kAlreadyExists;
    case 429:
    case 503: return absl::StatusCode::kUnavailable;
    default: return absl::StatusCode::kInternal;
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool matches(const std::string& message, std::string_view words) {
  // "network NAME not found"
  if (words == "network not found") {
    const size_t network = message.find("network ");
    return network != std::string::npos && message.find(" not found", network) != std::string::npos;
  }
  return message.find(words) != std::string::npos;
}

std::string one_line(std::string_view text) {
  std::string out(clip(text, kLongestMessage));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return out;
}

}  // namespace

absl::Status engine_error(std::string_view what, int status, std::string_view message) {
  const std::string words = lower(message);
  const Known* known = std::find_if(std::begin(kKnownErrors), std::end(kKnownErrors),
                                    [&](const Known& k) { return matches(words, k.words); });
  const bool found = known != std::end(kKnownErrors);
  std::string text = cat(what, ": ", one_line(message));
  if (found && *known->advice != '\0') text += cat("; ", known->advice);
  return {found ? known->code : code_of(status), text};
}

absl::Status engine_error(std::string_view what, const http::Response& response) {
  const std::string message = text(parse_json(response.body), "message");
  return engine_error(what, response.status, message.empty() ? http::describe(response) : message);
}

absl::Status unreachable(const EngineAddress& engine, const absl::Status& why) {
  const std::string where = cat("docker engine at ", engine.text);
  const std::string message(why.message());
  if (absl::IsPermissionDenied(why)) {
    return absl::PermissionDeniedError(cat(where,
                                           ": permission denied; add the server's user to the group that owns the "
                                           "socket (usually `docker`), or run the server as root"));
  }
  if (absl::IsCancelled(why) || absl::IsInvalidArgument(why) || absl::IsResourceExhausted(why)) return why;
  if (absl::IsDeadlineExceeded(why)) return absl::DeadlineExceededError(cat(where, ": ", message));
  if (message.find("No such file") != std::string::npos) {
    return absl::UnavailableError(cat(where,
                                      ": no such socket; is Docker installed and running (systemctl start "
                                      "docker)? Set another socket with the option host or DOCKER_HOST"));
  }
  if (message.find("refused") != std::string::npos) {
    return absl::UnavailableError(
        cat(where, ": nothing is listening there; start the engine (systemctl start docker)"));
  }
  return absl::UnavailableError(cat(where, ": ", message));
}

}  // namespace hodei::providers::docker
