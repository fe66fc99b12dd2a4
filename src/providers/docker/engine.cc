#include "src/providers/docker/engine.h"

#include <cctype>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/providers/docker/engine_errors.h"
#include "src/providers/docker/engine_json.h"
#include "src/providers/docker/log_frames.h"

namespace hodei::providers::docker {
namespace {

constexpr Duration kConnect = 5s;
constexpr Duration kHealthTimeout = 10s;
constexpr Duration kMakeTimeout = 120s;       // create and unpack, on a slow disk with a large image
constexpr Duration kEventSilence = 300s;      // then the connection is made anew
constexpr int64_t kLargestAnswer = 32 << 20;  // a list of many thousands of containers
constexpr size_t kLargestLog = 1 << 20;
constexpr int kRemovals = 5;
constexpr Duration kBetweenRemovals = 200ms;

http::Options within(Duration time, std::stop_token stop = {}) {
  return {.connect_timeout = kConnect,
          .idle_timeout = time,
          .total_timeout = time,
          .max_body = kLargestAnswer,
          .stop = stop};
}

http::Options streaming(Duration silence, Duration total, std::stop_token stop) {
  return {.connect_timeout = kConnect,
          .idle_timeout = silence,
          .total_timeout = total,
          .max_body = INT64_MAX,
          .stop = stop};
}

// Of a part of a path or a value of a query.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain)
      out.push_back(c);
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string path_of(const std::string& id, std::string_view verb = "") { return cat("/containers/", escape(id), verb); }

}  // namespace

absl::StatusOr<http::Response> Engine::ask(http::Request request, http::Options options) {
  ASSIGN_OR_RETURN(const std::string version, prefix());
  request.url = cat(address_.base, version, request.url);
  options.unix_socket = address_.unix_socket;
  absl::StatusOr<http::Response> response = http::call(request, options);
  if (response.ok()) return response;
  {
    // It may be another engine when it is back.
    const std::lock_guard lock(mutex_);
    prefix_.clear();
  }
  return unreachable(address_, response.status());
}

absl::StatusOr<std::string> Engine::prefix() {
  {
    const std::lock_guard lock(mutex_);
    if (!prefix_.empty()) return prefix_;
  }
  http::Options options = within(kHealthTimeout);
  options.unix_socket = address_.unix_socket;
  const absl::StatusOr<http::Response> response = http::call({.url = cat(address_.base, "/version")}, options);
  if (!response.ok()) return unreachable(address_, response.status());
  if (!response->ok()) return engine_error(cat("docker engine at ", address_.text), *response);
  const std::string found = version_prefix(parse_json(response->body));
  const std::lock_guard lock(mutex_);
  return prefix_ = found;
}

absl::StatusOr<EngineInfo> Engine::info() {
  ASSIGN_OR_RETURN(const http::Response response, ask({.url = "/info"}, within(kHealthTimeout)));
  if (!response.ok()) return engine_error("docker info", response);
  return info_of(parse_json(response.body));
}

absl::StatusOr<std::optional<ImageFacts>> Engine::image(const std::string& name) {
  ASSIGN_OR_RETURN(const http::Response response,
                   ask({.url = cat("/images/", escape(name), "/json")}, within(kCallTimeout)));
  if (response.status == 404) return std::nullopt;
  if (!response.ok()) return engine_error(cat("image ", name), response);
  const Json facts = parse_json(response.body);
  return ImageFacts{.id = text(facts, "Id"), .labels = string_map_of(field(field(facts, "Config"), "Labels"))};
}

absl::Status Engine::pull(const ImageReference& image, const std::string& auth, std::stop_token stop) {
  const std::string what = cat("pulling the image ", image.text());
  http::Request request{.method = "POST",
                        .url = cat("/images/create?fromImage=", escape(image.name), "&tag=", escape(image.tag))};
  if (!auth.empty()) request.headers["X-Registry-Auth"] = auth;
  JsonLines lines;
  std::string error;
  request.on_body = [&](std::string_view piece) {
    const bool sane = lines.add(piece, [&](const Json& line) {
      if (const std::string words = text(line, "error"); !words.empty()) error = words;
    });
    return sane ? absl::OkStatus() : absl::InternalError(cat(what, ": the engine's answer cannot be parsed"));
  };
  ASSIGN_OR_RETURN(const http::Response response,
                   ask(std::move(request), streaming(kImageTimeout, kImageTimeout, stop)));
  if (!response.ok()) return engine_error(what, response);
  return error.empty() ? absl::OkStatus() : engine_error(what, 503, error);
}

absl::StatusOr<std::string> Engine::create(const std::string& name, const std::string& body) {
  http::Request request{.method = "POST",
                        .url = cat("/containers/create?name=", escape(name)),
                        .headers = {{"Content-Type", "application/json"}},
                        .body = body};
  ASSIGN_OR_RETURN(const http::Response response, ask(std::move(request), within(kMakeTimeout)));
  if (!response.ok()) return engine_error(cat("creating the container ", name), response);
  const std::string id = text(parse_json(response.body), "Id");
  if (id.empty()) return absl::InternalError(cat("creating the container ", name, ": the engine returned no id"));
  return id;
}

absl::Status Engine::unpack(const std::string& id, const WorkerTar& tar) {
  http::Request request{.method = "PUT",
                        .url = path_of(id, "/archive?path=%2F"),
                        .headers = {{"Content-Type", "application/x-tar"}},
                        .body_size = tar.size(),
                        .read_body = [&tar](int64_t offset, std::span<char> into) { return tar.read(offset, into); }};
  ASSIGN_OR_RETURN(const http::Response response, ask(std::move(request), within(kMakeTimeout)));
  return response.ok() ? absl::OkStatus() : engine_error("copying the worker into the container", response);
}

absl::Status Engine::start(const std::string& id) {
  ASSIGN_OR_RETURN(const http::Response response,
                   ask({.method = "POST", .url = path_of(id, "/start")}, within(kMakeTimeout)));
  const bool running_already = response.status == 304;
  return response.ok() || running_already ? absl::OkStatus() : engine_error("starting the container", response);
}

absl::StatusOr<std::optional<ContainerFacts>> Engine::container(const std::string& id) {
  ASSIGN_OR_RETURN(const http::Response response, ask({.url = path_of(id, "/json")}, within(kCallTimeout)));
  if (response.status == 404) return std::nullopt;
  if (!response.ok()) return engine_error(cat("container ", id), response);
  ContainerFacts facts = inspected(parse_json(response.body));
  if (facts.id.empty()) return absl::InternalError(cat("container ", id, ": the engine's answer cannot be parsed"));
  return facts;
}

absl::StatusOr<std::vector<ContainerFacts>> Engine::containers(const StringMap& labels) {
  ASSIGN_OR_RETURN(
      const http::Response response,
      ask({.url = cat("/containers/json?all=true&filters=", escape(filters(labels, false)))}, within(kCallTimeout)));
  if (!response.ok()) return engine_error("listing containers", response);
  const Json list = parse_json(response.body);
  if (!list.is_array()) return absl::InternalError("listing containers: the engine's answer cannot be parsed");
  std::vector<ContainerFacts> out;
  for (const Json& item : list) out.push_back(listed(item));
  return out;
}

absl::StatusOr<std::string> Engine::logs(const std::string& id, size_t tail) {
  LogFrames frames(kLargestLog);
  http::Request request{.url = path_of(id, cat("/logs?stdout=true&stderr=true&tail=", tail)),
                        .on_body = [&](std::string_view piece) {
                          frames.add(piece);
                          return absl::OkStatus();
                        }};
  ASSIGN_OR_RETURN(const http::Response response, ask(std::move(request), streaming(kCallTimeout, kCallTimeout, {})));
  if (!response.ok()) return engine_error(cat("logs of ", id), response);
  return frames.take();
}

absl::Status Engine::remove(const std::string& id) {
  absl::Status failed;
  for (int i = 0; i < kRemovals; ++i) {
    if (i > 0) pause_for(kBetweenRemovals);
    ASSIGN_OR_RETURN(const http::Response response,
                     ask({.method = "DELETE", .url = path_of(id, "?force=true&v=true")}, within(kCallTimeout)));
    if (response.ok() || response.status == 404) return absl::OkStatus();
    // Somebody else removes it already: it is gone when that ends.
    if (response.status == 409) return wait_until_removed(id);
    // A mount that is busy for a moment is the usual cause, and gives no sign when it is free.
    failed = engine_error(cat("removing the container ", id), response);
  }
  return failed;
}

absl::Status Engine::wait_until_removed(const std::string& id) {
  ASSIGN_OR_RETURN(const http::Response response,
                   ask({.method = "POST", .url = path_of(id, "/wait?condition=removed")}, within(kCallTimeout)));
  if (response.ok() || response.status == 404) return absl::OkStatus();
  return engine_error(cat("waiting for the removal of the container ", id), response);
}

absl::Status Engine::events(const StringMap& labels, std::stop_token stop, const std::function<void()>& connected,
                            const std::function<void(const Event&)>& happened) {
  JsonLines lines;
  http::Request request{.url = cat("/events?filters=", escape(filters(labels, true)))};
  request.on_head = [&](const http::Response&) {
    connected();
    return absl::OkStatus();
  };
  request.on_body = [&](std::string_view piece) {
    const bool sane = lines.add(piece, [&](const Json& line) {
      happened(
          {.action = text(line, "Action"), .attributes = string_map_of(field(field(line, "Actor"), "Attributes"))});
    });
    return sane ? absl::OkStatus() : absl::InternalError("the engine's events cannot be parsed");
  };
  ASSIGN_OR_RETURN(const http::Response response, ask(std::move(request), streaming(kEventSilence, Duration(0), stop)));
  if (!response.ok()) return engine_error("events", response);
  return absl::UnavailableError("the engine closed the event stream");
}

}  // namespace hodei::providers::docker
